import fc from "fast-check";
import { expect, it } from "vitest";
import { fuse, type Arm } from "./fuse.ts";

const arm = (scores: Record<string, number>, rest: Omit<Arm<string>, "scores"> = {}): Arm<string> => ({
  scores: new Map(Object.entries(scores)),
  ...rest,
});

const TABLE: [string, Arm<string>[], [string, number][]][] = [
  ["nothing", [], []],
  [
    "one arm, over its best",
    [arm({ a: 2, b: 8 })],
    [
      ["b", 1],
      ["a", 0.25],
    ],
  ],
  [
    "two arms of other scales",
    [arm({ a: 20, b: 10 }), arm({ b: 0.4, c: 0.2 })],
    [
      ["b", 1.5],
      ["a", 1],
      ["c", 0.5],
    ],
  ],
  [
    "a stated maximum",
    [arm({ a: 4 }), arm({ b: 0.1 }, { maximum: 1 })],
    [
      ["a", 1],
      ["b", 0.1],
    ],
  ],
  [
    "a weight",
    [arm({ a: 1, b: 1 }), arm({ b: 1 }, { weight: 0.5 })],
    [
      ["b", 1.5],
      ["a", 1],
    ],
  ],
  ["scores that are not above 0", [arm({ a: -1, b: 0 }), arm({ a: 1 })], [["a", 1]]],
  ["nothing but scores below 0", [arm({ a: -1, b: -2 })], []],
  [
    "equals, in their order",
    [arm({ b: 3, a: 3 }), arm({ c: 1 })],
    [
      ["b", 1],
      ["a", 1],
      ["c", 1],
    ],
  ],
  [
    "a sure word above a vague likeness",
    [arm({ word: 9, other: 1 }), arm({ like: 0.6, word: 0.1 }, { maximum: 1 })],
    [
      ["word", 1.1],
      ["like", 0.6],
      ["other", 1 / 9],
    ],
  ],
];

it.each(TABLE)("fuses %s", (_what, arms, fused) => {
  const found = fuse(arms);
  expect(found.map(({ id }) => id)).toEqual(fused.map(([id]) => id));
  for (const [index, [, score]] of fused.entries()) expect(found[index]?.score).toBeCloseTo(score, 12);
});

it("gives everything that an arm found, once, best first, at most the sum of the weights", () => {
  const scores = fc.dictionary(
    fc.constantFrom("a", "b", "c", "d"),
    fc.double({ min: 0.001, max: 1e6, noNaN: true }),
  );
  const property = fc.property(fc.array(scores, { maxLength: 4 }), (tables) => {
    const found = fuse(tables.map((table) => arm(table)));
    expect(found.map(({ id }) => id).toSorted()).toEqual(
      [...new Set(tables.flatMap(Object.keys))].toSorted(),
    );
    const sorted = found.map(({ score }) => score).toSorted((a, b) => b - a);
    expect(found.map(({ score }) => score)).toEqual(sorted);
    expect(sorted[0] ?? 0).toBeLessThanOrEqual(tables.length + 1e-9);
  });
  fc.assert(property);
});
