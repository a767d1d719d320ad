import { expect, it } from "vitest";
import type { OperationResult } from "./store-bench.ts";
import { benchRecord, benchVector } from "./store-data.ts";
import { verdictOf } from "./store-targets.ts";

it.each<[OperationResult["name"], Partial<OperationResult>, string]>([
  ["get", { p50Ms: 3, floorP50Ms: 1 }, "≤ 3 x met"],
  ["get", { p50Ms: 3.01, floorP50Ms: 1 }, "≤ 3 x NOT MET"],
  ["text search", { p50Ms: 2, floorP50Ms: 1, p95Ms: 99 }, "≤ 2 x met"],
  ["text search", { records: 100_000, p50Ms: 3, floorP50Ms: 1, p95Ms: 15 }, "≤ 2 x NOT MET, p95 ≤ 15 ms met"],
  ["hybrid search", {}, ""],
])("says of %s with %j: %s", (name, numbers, verdict) => {
  const rest = { records: 1_000, p50Ms: 1, p95Ms: 1, floorP50Ms: 1, floorP95Ms: 1 };
  expect(verdictOf({ name, ...rest, ...numbers })).toBe(verdict);
});

it("makes the same records and vectors each time, no two alike", () => {
  const records = Array.from({ length: 500 }, (_, index) => benchRecord(index));
  expect(records[123]).toEqual(benchRecord(123));
  expect(new Set(records.map(({ value }) => value.text)).size).toBe(500);
  expect(benchVector(7, 500)).toEqual(benchVector(7, 500));
  expect(benchVector(7, 500)).not.toEqual(benchVector(17, 500));
});
