import { InMemoryStore, type BaseStore } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import { createManualClock } from "#src/kernel/clock.ts";
import { indexFieldsOf } from "../namespaces.ts";
import { openDatabase } from "../stores/sqlite/open-database.ts";
import { SqliteStore } from "../stores/sqlite/sqlite-store.ts";
import { ADA, NOW_MS, openTestFacts, recordOf, sayMany, type TestFacts } from "./testing/test-facts.ts";
import type { RecallOptions } from "./types.ts";

const openSqliteStore = (): BaseStore =>
  new SqliteStore(openDatabase(":memory:"), {
    clock: createManualClock(NOW_MS),
    index: { fields: indexFieldsOf },
  });

const textsOf = (records: readonly { readonly text: string }[]) => records.map(({ text }) => text);

async function recalled({ facts }: TestFacts, query: string, more: Partial<RecallOptions> = {}) {
  const { relevant, all } = await facts.recall(ADA, { query, limit: 5, ...more });
  return { relevant: textsOf(relevant), all: textsOf(all) };
}

const notes = (count: number): string[] =>
  Array.from({ length: count }, (_, number) => `note ${number} about the garden shed`);

describe.each<[string, () => BaseStore]>([
  ["InMemoryStore", () => new InMemoryStore()],
  ["SqliteStore", openSqliteStore],
])("recalling for a turn on %s", (_name, makeStore) => {
  it("gives nothing of somebody who has no memory, and asks no question for it", async () => {
    const store = makeStore();
    await openTestFacts(store).facts.remember(
      { owner: "ad" },
      { text: "I like tea", saidBy: "owner", source: "command" },
    );
    const asked: unknown[] = [];
    const search = store.search.bind(store);
    store.search = (prefix, options) => (asked.push(options?.query), search(prefix, options));
    expect(await recalled(openTestFacts(store), "do I like tea?")).toEqual({ relevant: [], all: [] });
    expect(asked.filter((query) => query !== undefined)).toEqual([]);
  });

  it.each([3, 60])(
    "finds the one that fits beside %i others, and gives all by domain, the newest first",
    async (count) => {
      const on = openTestFacts(makeStore());
      await on.say("My bike is a red Brompton", { domain: "user_profile" });
      await on.say("Plans come before code", { domain: "working_rules" });
      await on.say("Answers are short", { domain: "working_rules" });
      await sayMany(on, notes(count));
      expect(await recalled(on, "which bike do I have?")).toEqual({
        relevant: ["My bike is a red Brompton"],
        all: [
          ...notes(count).toReversed(),
          "My bike is a red Brompton",
          "Answers are short",
          "Plans come before code",
        ],
      });
    },
  );

  it("gives nothing for words that fit every fact, and nothing where none fits", async () => {
    const on = openTestFacts(makeStore());
    await sayMany(on, notes(100));
    expect((await recalled(on, "what is it about the")).relevant).toEqual([]);
    expect((await recalled(on, "zebra")).relevant).toEqual([]);
  });

  it("goes by the time of the last change, not by the order in which facts came", async () => {
    const on = openTestFacts(makeStore());
    const first = recordOf(await on.say("Plans come before code", { domain: "working_rules" }));
    const rules = Array.from({ length: 30 }, (_, number) => `rule ${number} for reports`);
    await sayMany(on, rules, { domain: "working_rules" });
    await on.facts.verify(ADA, [first.id]);
    expect((await recalled(on, "hello")).all.slice(0, 2)).toEqual([
      "Plans come before code",
      "rule 29 for reports",
    ]);
  });

  it.each([2, 50, 100])(
    "leaves out what expired, was archived or replaced, beside %i others",
    async (count) => {
      const on = openTestFacts(makeStore());
      await sayMany(on, notes(count));
      await on.say("My bike is a red Brompton", { about: "bike" });
      const sold = recordOf(await on.say("The old bike was sold in May", { domain: "user_profile" }));
      await on.say("The bike is at the repair shop", { domain: "user_profile", expiresAt: "2026-02-04" });
      await on.facts.edit(ADA, sold.id, { archived: true });
      await on.say("My bike is a blue Moulton", { about: "bike" });
      on.clock.set(Date.UTC(2026, 1, 4));
      const { relevant, all } = await recalled(on, "about my bike");
      expect(relevant).toEqual(["My bike is a blue Moulton"]);
      expect(all).toEqual(["My bike is a blue Moulton", ...notes(count).toReversed()]);
    },
  );

  it("reads on behind facts that have expired", async () => {
    const on = openTestFacts(makeStore());
    await on.say("My bike is a red Brompton", { domain: "user_profile" });
    await sayMany(on, notes(100));
    const tours = Array.from({ length: 80 }, (_, number) => `bike tour ${number}`);
    await sayMany(on, tours, { expires_at: "2026-02-04T00:00:00.000Z" });
    on.clock.set(Date.UTC(2026, 1, 5));
    const { relevant, all } = await recalled(on, "my bike");
    expect(relevant).toEqual(["My bike is a red Brompton"]);
    expect(all[0]).toBe("note 99 about the garden shed");
  });

  it("keeps to the scopes of the agent, and to the one task that is named", async () => {
    const on = openTestFacts(makeStore());
    await on.say("The bike tour is in May", { task: "tour" });
    await on.say("The bike shop opens at nine", { task: "shop" });
    await on.say("I ride a bike on trips", { domain: "user_profile", scope: "agent:travel" });
    await on.say("I ride a bike to the kitchen", { domain: "user_profile", scope: "agent:chef" });
    expect((await recalled(on, "bike")).relevant).toEqual([]);
    expect((await recalled(on, "bike", { task: "tour" })).relevant).toEqual(["The bike tour is in May"]);
    const { relevant } = await on.facts.recall({ ...ADA, agent: "travel" }, { query: "bike", limit: 5 });
    expect(textsOf(relevant)).toEqual(["I ride a bike on trips"]);
  });
});
