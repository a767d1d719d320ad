import { expect, it } from "vitest";
import { OPERATIONS, storeBench } from "./store-bench.ts";
import { storeTables } from "./store-tables.ts";

it("measures every operation of a store and of its floor, and what searching takes", async () => {
  const result = await storeBench(300);
  expect(result.operations.map(({ name }) => name)).toEqual(OPERATIONS);
  for (const { p50Ms, p95Ms, floorP50Ms } of result.operations) {
    expect(p50Ms).toBeGreaterThan(0);
    expect(p95Ms).toBeGreaterThanOrEqual(p50Ms);
    expect(floorP50Ms).toBeGreaterThan(0);
  }
  expect(storeTables([result])).toMatch(/Store with 300 records[^]*text search/u);
});
