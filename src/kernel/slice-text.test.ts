import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sliceWhole, wholeAt } from "./slice-text.ts";

describe("cutting text", () => {
  it.each<[string, number, number, string]>([
    ["abcdef", 1, 3, "bc"],
    ["a😀b", 0, 2, "a"],
    ["a😀b", 2, 4, "😀b"],
    ["a😀b", 0, 3, "a😀"],
    ["abc", -5, 99, "abc"],
    ["abc", 2, 1, ""],
    ["", 0, 5, ""],
  ])("of %j from %i to %i gives %j", (text, from, to, cut) => {
    expect(sliceWhole(text, from, to)).toBe(cut);
  });

  it("gives the whole text when pages follow each other, and splits no pair", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 2, max: 5 }), (text, size) => {
        let joined = "";
        for (let from = 0; from < text.length; from = wholeAt(text, from + size)) {
          const page = sliceWhole(text, from, from + size);
          expect(page.isWellFormed()).toBe(true);
          joined += page;
        }
        expect(joined).toBe(text);
      }),
    );
  });
});
