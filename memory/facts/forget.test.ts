import { InMemoryStore } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import { createManualClock } from "#src/kernel/clock.ts";
import { createSequentialIds } from "#src/kernel/ids.ts";
import { recordNamespace } from "../namespaces.ts";
import { findSaying, forgetSaying, markForgotten } from "./forget.ts";
import { ADA, openTestFacts, recordOf } from "./testing/test-facts.ts";

const everything = async (store: InMemoryStore): Promise<string> =>
  JSON.stringify(await store.search([], { limit: 1000 }));

describe("forgetting", () => {
  it("removes the fact and leaves a tombstone that says nothing of it", async () => {
    const store = new InMemoryStore();
    const { say, facts, texts } = openTestFacts(store);
    const record = recordOf(await say("I like tea"));
    expect(await facts.forget(ADA, record.id)).toMatchObject({
      kind: "forgotten",
      record: { id: record.id },
    });
    expect(await texts()).toEqual([]);
    const left = await everything(store);
    expect(left).not.toContain("tea");
    expect(left).not.toContain(record.id);
    expect(await store.search(["memory", "tombstones", "ada"])).toHaveLength(1);
  });

  it("says so when there is nothing to forget", async () => {
    const { say, facts, texts } = openTestFacts();
    const { id } = recordOf(await say("I like tea"));
    expect(await facts.forget(ADA, "00000000-0000-4000-8000-000000000000")).toEqual({ kind: "none" });
    expect(await facts.forget({ owner: "bob" }, id)).toEqual({ kind: "none" });
    expect(await texts()).toHaveLength(1);
  });

  it("keeps tools, inference and imports from bringing the fact back, in any spelling and domain", async () => {
    const { say, facts, texts } = openTestFacts();
    const file = await (async () => {
      await say("I like tea");
      return facts.exportAll(ADA);
    })();
    await facts.forget(ADA, file.records[0]?.id ?? "");
    const forgotten = { kind: "forgotten", forgottenAt: "2026-02-03T10:15:01.000Z" };
    expect(await say("i  like TEA.", { saidBy: "tool", source: "inference" })).toEqual(forgotten);
    expect(await say("I like tea", { source: "inference" })).toEqual(forgotten);
    expect(await say("I like tea", { source: "inference", domain: "working_rules" })).toEqual(forgotten);
    expect(await facts.importAll(ADA, file)).toMatchObject({ added: 0, forgotten: 1 });
    expect(await texts()).toEqual([]);
  });

  it("ends when the owner says it again in so many words", async () => {
    const { say, facts, texts, store } = openTestFacts();
    await facts.forget(ADA, recordOf(await say("I like tea")).id);
    expect(await say("I like tea")).toMatchObject({ kind: "stored" });
    expect(await store.search(["memory", "tombstones"])).toEqual([]);
    expect(await texts()).toEqual(["I like tea"]);
  });

  it("of the newer fact does not bring back the one it had replaced, and tells of that", async () => {
    const { say, facts, texts } = openTestFacts();
    await say("I live in Ghent", { about: "home" });
    const oslo = recordOf(await say("I live in Oslo", { about: "home" }));
    const outcome = await facts.forget(ADA, oslo.id);
    expect(outcome).toMatchObject({ predecessors: [{ text: "I live in Ghent" }] });
    expect(await texts()).toEqual([]);
  });

  it("of the older fact takes its id out of the newer one", async () => {
    const store = new InMemoryStore();
    const { say, facts, texts } = openTestFacts(store);
    const ghent = recordOf(await say("I live in Ghent", { about: "home" }));
    await say("I live in Oslo", { about: "home" });
    await facts.forget(ADA, ghent.id);
    expect(await everything(store)).not.toContain(ghent.id);
    expect(await texts()).toEqual(["I live in Oslo"]);
  });

  it("uses one salt an owner, and another for the next", async () => {
    const { say, facts, store } = openTestFacts();
    for (const text of ["I like tea", "I like jazz"]) await facts.forget(ADA, recordOf(await say(text)).id);
    const bob = { owner: "bob" };
    const fact = { text: "I like tea", saidBy: "owner", source: "command" } as const;
    await facts.forget(bob, recordOf(await facts.remember(bob, fact)).id);
    const stones = (await store.search(["memory", "tombstones"])).map(({ value }) => value);
    expect(new Set(stones.map(({ salt }) => String(salt))).size).toBe(2);
    expect(new Set(stones.map(({ hash }) => String(hash))).size).toBe(3);
  });

  it("leaves the tombstone when a crash comes before the deletion, and can be repeated", async () => {
    const { say, facts, store, texts } = openTestFacts();
    const { id } = recordOf(await say("I like tea"));
    const remove = store.delete.bind(store);
    store.delete = () => Promise.reject(new Error("crash"));
    await expect(facts.forget(ADA, id)).rejects.toThrow("crash");
    store.delete = remove;
    expect(await store.search(["memory", "tombstones"])).toHaveLength(1);
    await facts.forget(ADA, id);
    expect(await store.search(["memory", "tombstones"])).toHaveLength(1);
    expect(await texts()).toEqual([]);
  });
});

const saysTea = (text: string): boolean => /tea/iu.test(text);
const depsOn = (store: InMemoryStore) => ({
  store,
  clock: createManualClock(Date.parse("2026-03-01T09:00:00.000Z")),
  ids: createSequentialIds(9),
  scan: async () => [],
});

describe("forgetting by what is said", () => {
  it("takes every record that says it, also of tasks, replaced and under review, and what cannot be read", async () => {
    const store = new InMemoryStore();
    const { say, facts, texts } = openTestFacts(store);
    await say("I like tea");
    await say("I like jazz");
    await say("Tea is served at five", { task: "fair" });
    await say("the stalls open at nine", { task: "Tea party" });
    await say("Always serve tea", { saidBy: "tool", source: "inference" });
    const place = { domain: "user_profile", scope: "global", task: null } as const;
    await store.put(recordNamespace("ada", place), "odd", { schema_version: 9, words: ["tea"] });
    expect(await facts.review.list(ADA)).toHaveLength(1);
    const { records, unreadable } = await findSaying(depsOn(store), ADA, saysTea);
    expect([records.length, unreadable.length]).toEqual([4, 1]);
    expect(await forgetSaying(depsOn(store), ADA, saysTea)).toEqual({ forgotten: 5 });
    expect(await everything(store)).not.toMatch(/tea/iu);
    expect(await texts()).toEqual(["I like jazz"]);
    expect(await forgetSaying(depsOn(store), ADA, saysTea)).toEqual({ forgotten: 0 });
  });

  it("keeps what it took from coming back, and leaves the facts of others", async () => {
    const store = new InMemoryStore();
    const { say, facts } = openTestFacts(store);
    const file = await (async () => {
      await say("I like tea");
      return facts.exportAll(ADA);
    })();
    const bob = { owner: "bob" };
    const his = recordOf(
      await facts.remember(bob, { text: "I like tea", saidBy: "owner", source: "command" }),
    );
    await forgetSaying(depsOn(store), ADA, saysTea);
    expect(await facts.importAll(ADA, file)).toMatchObject({ added: 0, forgotten: 1 });
    expect(await facts.find(bob, his.id)).toHaveLength(1);
  });

  it("marks a text that no record says, once", async () => {
    const store = new InMemoryStore();
    const { say } = openTestFacts(store);
    await markForgotten(depsOn(store), ADA, "I like tea");
    await markForgotten(depsOn(store), ADA, "i like TEA");
    expect(await store.search(["memory", "tombstones", "ada"])).toHaveLength(1);
    expect(await say("I like tea", { saidBy: "tool", source: "inference" })).toMatchObject({
      kind: "forgotten",
    });
  });
});
