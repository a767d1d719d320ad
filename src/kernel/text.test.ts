import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { estimateTokens, sliceWhole, wholeAt } from "./text.ts";

describe("estimating tokens", () => {
  it.each([
    ["nothing", "", 0],
    ["one letter", "a", 1],
    ["four letters", "abcd", 1],
    ["five letters", "abcde", 2],
    ["four Chinese characters", "你好世界", 4],
    ["Japanese in three scripts", "カナかな漢字", 6],
    ["Korean syllables", "안녕", 2],
    ["Chinese and English together", "猫 is a cat", 4],
  ])("counts %s", (_what, text, tokens) => {
    expect(estimateTokens(text)).toBe(tokens);
  });

  it("counts every Thai character, so that Thai is not taken for a quarter of its cost", () => {
    expect(estimateTokens("สวัสดี")).toBe(6);
  });

  it("counts an emoji as at least one token", () => {
    expect(estimateTokens("😀")).toBeGreaterThanOrEqual(1);
  });

  it("stays between a quarter of the characters and all of them", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const tokens = estimateTokens(text);
        expect(tokens).toBeGreaterThanOrEqual(Math.ceil(text.length / 4));
        expect(tokens).toBeLessThanOrEqual(text.length);
      }),
    );
  });

  it("never costs more for two texts together than apart, and never less than for one", () => {
    const text = fc.string({ unit: "grapheme" });
    fc.assert(
      fc.property(text, text, (a, b) => {
        const together = estimateTokens(a + b);
        expect(together).toBeLessThanOrEqual(estimateTokens(a) + estimateTokens(b));
        expect(together).toBeGreaterThanOrEqual(Math.max(estimateTokens(a), estimateTokens(b)));
      }),
    );
  });

  it("takes half of a surrogate pair without failing", () => {
    expect(estimateTokens("\ud83d")).toBe(1);
  });
});

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

  it.each(["👨‍👩‍👧‍👦", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🇫🇷🇩🇪", "e\u0301", "\u1112\u1161\u11ab", "กำ", "\r\n"])(
    "splits no character as people see it: %j",
    (character) => {
      const borders = new Set([...new Intl.Segmenter().segment(character)].map(({ index }) => index));
      for (let at = 1; at < character.length; at += 1)
        for (const direction of [-1, 1] as const) {
          const whole = wholeAt(`a${character}b`, at + 1, direction) - 1;
          expect(whole === character.length || borders.has(whole)).toBe(true);
          expect((whole - at) * direction).toBeGreaterThanOrEqual(0);
        }
    },
  );

  it("splits a character that is longer than a page of text, but no pair of it", () => {
    const long = `a${"\u0301".repeat(3_000)}`;
    expect(wholeAt(long, 2_000)).toBe(2_000);
    expect(wholeAt(`${"👩\u200d".repeat(900)}x`, 2_000, 1) % 3).not.toBe(1);
  });

  it("gives the whole text when pages follow each other, and splits no pair", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 1, max: 5 }), (text, size) => {
        let joined = "";
        for (let from = 0; from < text.length;) {
          const to = wholeAt(text, from + size, 1);
          const page = text.slice(from, to);
          expect(page.isWellFormed()).toBe(true);
          joined += page;
          from = to;
        }
        expect(joined).toBe(text);
      }),
    );
  });
});
