import { expect, it } from "vitest";
import { weighByNeighbours } from "./neighbours.ts";

it.each([
  ["nothing", [], []],
  ["a turn alone", [2], [2]],
  ["turns around a hit", [0, 0, 1, 0, 0], [0.15, 0.3, 1, 0.3, 0.15]],
  ["no further than two turns", [1, 0, 0, 0], [1, 0.3, 0.15, 0]],
  [
    "two hits around a turn, which outranks a lone one",
    [1, 0, 1, 0, 0, 0, 0.5],
    [1.15, 0.6, 1.15, 0.3, 0.225, 0.15, 0.5],
  ],
])("weighs %s", (_what, scores, weighed) => {
  const found = weighByNeighbours(scores);
  expect(found).toHaveLength(weighed.length);
  for (const [index, score] of weighed.entries()) expect(found[index]).toBeCloseTo(score, 12);
});

it("takes other shares", () => {
  expect(weighByNeighbours([0, 1, 0], [0.5])).toEqual([0.5, 1, 0.5]);
  expect(weighByNeighbours([0, 1, 0], [])).toEqual([0, 1, 0]);
});
