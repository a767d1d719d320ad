import { expect, it } from "vitest";
import { fuse } from "./durable-store.ts";

type Scores = Readonly<Record<string, number>>;

it.each<[string, Scores, Scores, [string, number][]]>([
  ["nothing", {}, {}, []],
  [
    "words alone, over their best",
    { a: 2, b: 8 },
    {},
    [
      ["b", 1],
      ["a", 0.25],
    ],
  ],
  [
    "meaning alone, as it is",
    {},
    { a: 0.2, b: 0.4 },
    [
      ["b", 0.4],
      ["a", 0.2],
    ],
  ],
  ["scores that are not above 0", { a: -1, b: 0 }, { a: 0.5, c: -0.5 }, [["a", 0.5]]],
  [
    "equals, in their order",
    { b: 3, a: 3 },
    { c: 1 },
    [
      ["b", 1],
      ["a", 1],
      ["c", 1],
    ],
  ],
  [
    "a sure word above a vague likeness",
    { word: 9, other: 1 },
    { like: 0.6, word: 0.1 },
    [
      ["word", 1.1],
      ["like", 0.6],
      ["other", 1 / 9],
    ],
  ],
])("fuses %s", (_what, words, meaning, fused) => {
  const found = fuse(new Map(Object.entries(words)), new Map(Object.entries(meaning)));
  expect(found.map(({ id }) => id)).toEqual(fused.map(([id]) => id));
  for (const [index, [, score]] of fused.entries()) expect(found[index]?.score).toBeCloseTo(score, 12);
});
