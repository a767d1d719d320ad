import { describe, expect, it } from "vitest";
import { linesWithout } from "./lines-without.ts";

const saysTea = (text: string): boolean => /green\s+tea/u.test(text);

describe("lines without those that say something", () => {
  it.each<[string, string[], string[]]>([
    ["a line that says it goes", ["one", "green tea", "two"], ["one", "two"]],
    [
      "a message goes with all its lines",
      ["one", "I like green\\", "tea, and\\", "cake", "two"],
      ["one", "two"],
    ],
    ["what only stands beside it stays", ["green", "tea"], ["green", "tea"]],
    ["a message that was never ended is one too", ["one", "green tea\\"], ["one"]],
    ["nothing is left of nothing", [], []],
  ])("%s", (_what, lines, kept) => expect(linesWithout(lines, saysTea)).toEqual(kept));
});
