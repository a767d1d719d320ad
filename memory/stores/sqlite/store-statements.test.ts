import { afterAll, expect, it } from "vitest";
import { openDatabase } from "./open-database.ts";
import { STORE_SCHEMA } from "./store-schema.ts";
import { prepareStatements, rangeOf } from "./store-statements.ts";
import { TEXT_TABLES } from "./text-tables.ts";

const db = openDatabase(":memory:", { schema: STORE_SCHEMA });
const statements = prepareStatements(db);
afterAll(() => void db.close());

function planOf(source: string): string[] {
  const parameters = Array.from({ length: source.split("?").length - 1 }, () => "x");
  return db
    .prepare<string[], { detail: string }>(`EXPLAIN QUERY PLAN ${source}`)
    .all(...parameters)
    .map((row) => row.detail);
}

it.each([
  ["a get", statements.get.source],
  ["a search by prefix", statements.list(0).source],
  ["a search by prefix and fields", statements.list(2).source],
  ["the newest facts of a namespace", statements.newest(2).source],
  ["the newest facts about one thing", statements.newestOfGroup(2).source],
  ["items by the beginning of their key", statements.byKey(0).source],
  ["the states of facts", statements.states.source],
  ["the number of items", statements.countItems.source],
  ["a list of namespaces by prefix", statements.paths.source],
  ["a change", statements.findItem.source],
])("reads ranges of indexes and sorts nothing for %s", (_what, source) => {
  const plan = planOf(source);
  expect(plan.join("\n")).toMatch(/SEARCH/u);
  expect(plan.filter((step) => /^SCAN|TEMP B-TREE/u.test(step))).toEqual([]);
});

it.each(TEXT_TABLES)(
  "reads %s in the order of its ranking and items by number for a search by words",
  (table) => {
    const plan = planOf(statements.texts[table].rank(1).source);
    expect(plan.join()).not.toContain("TEMP B-TREE");
    expect(plan[0]).toContain(`SCAN ${table} VIRTUAL TABLE INDEX`);
    expect(plan.slice(1).filter((step) => step.startsWith("SCAN"))).toEqual([]);
  },
);

it("makes a range that holds the namespace and what is below it, and nothing beside it", () => {
  const { from, to } = rangeOf("a.user1.");
  for (const inside of ["a.user1.", "a.user1.\u{10ffff}.", "a.user1.0."])
    expect(from <= inside && inside < to).toBe(true);
  for (const outside of ["a.user.", "a.user10.", "a.user1-.", "a.user1/."])
    expect(from <= outside && outside < to).toBe(false);
});

it("finds facts about one thing by the thing", () => {
  expect(planOf(statements.newestOfGroup(0).source).join()).toContain("(namespace_id=? AND <expr>=?)");
});
