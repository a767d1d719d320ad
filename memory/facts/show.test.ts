import { InMemoryStore } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import { memoryRecord } from "../testing/memory-record.ts";
import { putRecords } from "./rows.ts";
import { ADA, openTestFacts, recordOf, sayMany } from "./testing/test-facts.ts";

describe("reading", () => {
  it("gives the newest first and keeps task memory out by default", async () => {
    const { say, facts } = openTestFacts();
    await say("I like tea");
    await say("Be warm");
    await say("We chose SQLite", { task: "lily" });
    const { records, total } = await facts.show(ADA);
    expect(records.map(({ text }) => text)).toEqual(["Be warm", "I like tea"]);
    expect(total).toBe(2);
    expect((await facts.show(ADA, { domains: ["persona_core"] })).records).toHaveLength(1);
    expect((await facts.show(ADA, { task: "*" })).records).toHaveLength(1);
  });

  it("leaves out what expired at that very instant, and says so", async () => {
    const { say, facts, clock } = openTestFacts();
    await say("I am in Oslo", { expiresAt: "2026-08-01" });
    clock.set(Date.UTC(2026, 6, 31, 23, 59, 59, 999));
    expect((await facts.show(ADA)).total).toBe(1);
    clock.set(Date.UTC(2026, 7, 1));
    expect(await facts.show(ADA)).toMatchObject({
      total: 0,
      leftOut: { expired: 1, archived: 0, superseded: 0 },
    });
    expect(await facts.show(ADA, { includeAll: true })).toMatchObject({
      total: 1,
      leftOut: { expired: 0 },
    });
  });

  it("leaves out archived and superseded records unless asked", async () => {
    const { say, facts } = openTestFacts();
    const old = recordOf(await say("I live in Ghent", { about: "home" }));
    await say("I live in Oslo", { about: "home" });
    await facts.edit(ADA, recordOf(await say("I like tea")).id, { archived: true });
    expect(await facts.show(ADA)).toMatchObject({ total: 1, leftOut: { archived: 1, superseded: 1 } });
    const { records, total, leftOut } = await facts.show(ADA, { includeAll: true });
    expect([total, leftOut]).toEqual([3, { expired: 0, archived: 0, superseded: 0 }]);
    expect(records.map(({ id }) => id)).toContain(old.id);
  });

  it("changes nothing in the store", async () => {
    const { say, facts, store, clock } = openTestFacts();
    const { id } = recordOf(await say("I like tea"));
    const before = JSON.stringify(await store.search([]));
    clock.advance(1e9);
    await facts.show(ADA, { query: "tea" });
    await facts.find(ADA, id);
    await facts.conflicts(ADA);
    await facts.exportAll(ADA);
    await facts.overview(ADA);
    expect(JSON.stringify(await store.search([]))).toBe(before);
  });

  it("reads the agent's own scope beside the global one, and no other agent's", async () => {
    const { say, facts } = openTestFacts();
    await say("I like tea");
    await say("I like rail travel", { scope: "agent:travel" });
    await say("I like sourdough", { scope: "agent:chef" });
    const texts = async (who: object, options = {}) =>
      (await facts.show({ ...ADA, ...who }, options)).records.map(({ text }) => text);
    expect(await texts({})).toEqual(["I like tea"]);
    expect(await texts({ agent: "travel" })).toEqual(["I like rail travel", "I like tea"]);
    expect(await texts({}, { scope: "agent:chef" })).toEqual(["I like sourdough"]);
    expect(await texts({}, { scope: "*" })).toHaveLength(3);
  });

  it("ranks by words where the store ignores queries", async () => {
    const { say, facts } = openTestFacts();
    await say("The laptop has a faulty fan");
    await say("The laptop is silver");
    await say("I like tea");
    const found = await facts.show(ADA, { query: "what was wrong with my laptop fan?" });
    expect(found.records.map(({ text }) => text)).toEqual([
      "The laptop has a faulty fan",
      "The laptop is silver",
    ]);
    expect((await facts.show(ADA, { query: "zebra" })).records).toEqual([]);
    expect((await facts.show(ADA, { query: "  " })).records).toHaveLength(3);
  });

  it("gives the first of many and says how many there are", async () => {
    const { say, facts } = openTestFacts();
    for (let n = 0; n < 7; n += 1) await say(`fact number ${n}`);
    const { records, total } = await facts.show(ADA, { limit: 3 });
    expect(records.map(({ text }) => text)).toEqual(["fact number 6", "fact number 5", "fact number 4"]);
    expect(total).toBe(7);
    await expect(facts.show(ADA, { limit: -1 })).rejects.toMatchObject({ code: "memory_input_invalid" });
  });

  it("reads past the first page of a store", async () => {
    const on = openTestFacts();
    const { facts } = on;
    const texts = Array.from({ length: 1_203 }, (_, n) => `fact ${n}`);
    await sayMany(on, texts);
    expect((await facts.show(ADA)).total).toBe(1203);
    expect((await facts.overview(ADA)).current.user_profile).toBe(1203);
  });

  it("counts what it cannot read and gives the rest", async () => {
    const { say, facts, store } = openTestFacts();
    const { id } = recordOf(await say("I like tea"));
    const namespace = ["memory", "personality", "user_profile", "ada", "global"];
    await store.put(namespace, "junk", { text: "not a record" });
    const copy = (await store.get(namespace, id))?.value ?? {};
    await store.put(namespace, "00000000-0000-4000-8000-000000000000", copy);
    expect(await facts.show(ADA)).toMatchObject({ total: 1, unreadable: 2 });
  });

  it("drops rows of another owner that a careless store mixes in", async () => {
    const store = new InMemoryStore();
    const { say } = openTestFacts(store);
    await say("I like tea");
    const search = store.search.bind(store);
    store.search = (_prefix, options) => search([], options);
    const { facts } = openTestFacts(store);
    expect((await facts.show({ owner: "ad" })).records).toEqual([]);
    expect((await facts.show({ owner: "bob" })).records).toEqual([]);
    expect((await facts.show(ADA)).records).toHaveLength(1);
    expect(await facts.review.list({ owner: "bob" })).toEqual([]);
  });
});

describe("an id", () => {
  const IDS = ["9c41e7aa-0000-5000-8000-000000000001", "9c41f012-0000-5000-8000-000000000002"];

  it.each([
    ["9c41e7aa", [IDS[0]]],
    ["9C41E7", [IDS[0]]],
    ["9c41", IDS],
    ["9c41e7aa0000", [IDS[0]]],
    [" 9c41f012-0000-5000-8000-000000000002 ", [IDS[1]]],
    ["9c4", []],
    ["nope", []],
    ["", []],
    ["%%%%", []],
  ])(
    "is found whole or by its beginning, and asked back when it is several: %j stands for %j",
    async (text, ids) => {
      const { facts, store } = openTestFacts();
      await putRecords(
        store,
        ADA.owner,
        IDS.map((id) => memoryRecord({ id, text: "a fact" })),
      );
      expect((await facts.find(ADA, text)).map(({ id }) => id)).toEqual(ids);
      expect(await facts.find({ owner: "bob" }, text)).toEqual([]);
    },
  );
});
