import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { estimateTokens } from "./tokens.ts";

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
