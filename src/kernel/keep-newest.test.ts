import { expect, it } from "vitest";
import { keepNewest } from "./keep-newest.ts";

it("keeps the entries that were put last, each once", () => {
  const map = new Map<string, number>();
  for (const entry of [
    ["a", 1],
    ["b", 2],
    ["a", 3],
    ["c", 4],
  ] as const)
    keepNewest(map, entry, 2);
  expect([...map]).toEqual([
    ["a", 3],
    ["c", 4],
  ]);
});
