import { afterAll, expect, it, onTestFinished, vi } from "vitest";
import { openDatabase } from "./open-database.ts";
import { STORE_SCHEMA } from "./store-schema.ts";
import { prepareVectorStatements } from "./vector-statements.ts";

const db = openDatabase(":memory:", { schema: STORE_SCHEMA });
const statements = prepareVectorStatements(db);
afterAll(() => void db.close());

function planOf(source: string): string[] {
  const parameters = Array.from({ length: source.split("?").length - 1 }, () => "[]");
  return db
    .prepare<string[], { detail: string }>(`EXPLAIN QUERY PLAN ${source}`)
    .all(...parameters)
    .map((row) => row.detail);
}

it.each([
  ["the next items to embed", statements.unmarked.source],
  ["items with an older model", statements.lowerMarked.source],
  ["items with a newer model", statements.higherMarked.source],
  ["whether there are vectors", statements.hasVectors.source],
  ["the check before a write", statements.isPresent.source],
])("reads ranges of indexes and sorts nothing for %s", (_what, source) => {
  const plan = planOf(source);
  expect(plan.join("\n")).toMatch(/SEARCH/u);
  expect(plan.filter((step) => /^SCAN|TEMP B-TREE/u.test(step))).toEqual([]);
});

it("reads the signs of the wanted namespaces, and no others, for the nearest", () => {
  const plan = planOf(statements.nearest.source);
  expect(plan[0]).toMatch(/^SEARCH vector_signs USING PRIMARY KEY \(model_id=\? AND namespace_id=\?\)/u);
  expect(plan.filter((step) => step.startsWith("SCAN"))).toEqual([]);
});

it("reads vectors by number for exact similarities", () => {
  const plan = planOf(statements.similarities.source);
  expect(plan).toEqual([
    expect.stringMatching(/^SCAN wanted/u),
    expect.stringMatching(/^SEARCH v USING INTEGER PRIMARY KEY/u),
  ]);
});

it("says in plain words when sqlite-vec does not run on the machine", () => {
  const other = openDatabase(":memory:", { schema: STORE_SCHEMA });
  onTestFinished(() => void other.close());
  vi.spyOn(other, "loadExtension").mockImplementation(() => {
    throw new Error("wrong ELF class");
  });
  expect(() => prepareVectorStatements(other)).toThrow(expect.objectContaining({ code: "config_invalid" }));
});
