import { InMemoryStore } from "@langchain/langgraph-checkpoint";
import { expect, it } from "vitest";
import { ADA, crashWhileSaying, openTestBook, recordOf } from "./testing/test-book.ts";

const notesIn = (store: InMemoryStore) => store.search(["memory", "replacements"]);

it.each([
  [1, "I live in Ghent"],
  [2, "I live in Ghent"],
  [3, "I live in Oslo"],
])("leaves one of two facts when a crash comes with put %i of the second", async (crashAt, holds) => {
  const store = new InMemoryStore();
  const on = openTestBook(store);
  await on.say("I live in Ghent");
  await crashWhileSaying(on, "I live in Oslo", crashAt);
  expect(await on.texts()).toEqual([holds]);
  on.clock.advance(60_000);
  await on.say("I live in Rome");
  expect(await on.texts()).toEqual(["I live in Rome"]);
  expect(await notesIn(store)).toEqual([]);
});

it("does not end what another process may still be at", async () => {
  const store = new InMemoryStore();
  const on = openTestBook(store);
  await on.say("I live in Ghent");
  await crashWhileSaying(on, "I live in Oslo", 3);
  await on.say("I like tea");
  expect(await notesIn(store)).toHaveLength(1);
});

it("keeps what was replaced from coming back when its replacement is forgotten, and no id of that", async () => {
  const store = new InMemoryStore();
  const on = openTestBook(store);
  await on.say("I live in Ghent");
  await crashWhileSaying(on, "I live in Oslo", 3);
  const { records } = await on.book.show(ADA);
  const id = records[0]?.id ?? "";
  expect(await on.book.forget(ADA, id)).toMatchObject({ kind: "forgotten" });
  expect(await on.texts()).toEqual([]);
  expect(JSON.stringify(await store.search([], { limit: 100 }))).not.toContain(id);
});

it("leaves no note where nothing is in the way", async () => {
  const store = new InMemoryStore();
  const on = openTestBook(store);
  await on.say("I live in Ghent");
  const oslo = recordOf(await on.say("I live in Oslo"));
  await on.say("I live in Rome", { saidBy: "tool", source: "inference" });
  await on.book.resolve(ADA, oslo.id);
  expect(await notesIn(store)).toEqual([]);
});
