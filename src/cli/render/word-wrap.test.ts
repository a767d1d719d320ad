import fc from "fast-check";
import stringWidth from "string-width";
import { describe, expect, it } from "vitest";
import { createWordWrap, wrapWords } from "./word-wrap.ts";

describe("word wrap", () => {
  it("breaks between words", () => {
    expect(wrapWords("the quick brown fox jumps", 10)).toBe("the quick\nbrown fox\njumps");
  });

  it("keeps line breaks, indentation and blank lines", () => {
    expect(wrapWords("a\n\n  - b\n", 10)).toBe("a\n\n  - b\n");
  });

  it("leaves code blocks and long words as they are", () => {
    const code = "```sh\nsome --long command line that is copied\n```\n";
    expect(wrapWords(code, 20)).toBe(code);
    expect(wrapWords("see https://example.org/a/very/long/path/that/goes/on", 20)).toBe(
      "see \nhttps://example.org/a/very/long/path/that/goes/on".replace(" \n", "\n"),
    );
  });

  it("prints a script without spaces as it comes", () => {
    const wrap = createWordWrap(80);
    expect(wrap.push("日本語の長い文章".repeat(4))).not.toBe("");
  });

  it("gives the same for all ways of cutting the text, and never changes a word", () => {
    const text = fc.array(fc.constantFrom("a", "word", "longer-word", " ", "  ", "\n", "漢字"), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(text, fc.integer({ min: 12, max: 40 }), (parts, columns) => {
        const whole = parts.join("");
        const wrap = createWordWrap(columns);
        const pieces =
          Array.from(whole)
            .map((character) => wrap.push(character))
            .join("") + wrap.end();
        expect(words(pieces)).toEqual(words(whole));
        for (const word of words(whole)) fc.pre(stringWidth(word) <= 12);
        expect(pieces).toBe(wrapWords(whole, columns));
        // Between an indentation and its word no line is broken.
        const lines = pieces.split("\n").filter((line) => !line.startsWith(" "));
        for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(columns);
      }),
    );
  });
});

function words(text: string): string[] {
  return text.split(/\s+/u).filter((word) => word !== "");
}
