import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { estimateTokens } from "#src/kernel/tokens.ts";
import { cutText } from "./cut-text.ts";

describe("cutting a text", () => {
  it("leaves alone what fits", () => {
    expect(cutText("short", 10)).toBe("short");
  });

  it("keeps beginning and end, and says how much is missing", () => {
    const cut = cutText(`${"a".repeat(400)}${"b".repeat(400)}`, 60);
    expect(cut).toMatch(/^a+\n\[… \d+ characters left out …\]\nb+$/u);
  });

  it("ends at a line where one is near", () => {
    const lines = Array.from({ length: 40 }, (_, index) => `line ${index} of the text`).join("\n");
    const cut = cutText(lines, 100);
    for (const line of cut.split("\n")) expect(line).toMatch(/^line \d+ of the text$|^\[…/u);
  });

  it("closes a code block that it cuts, and opens it again behind the cut", () => {
    const code = Array.from({ length: 60 }, (_, index) => `const value${index} = ${index};`).join("\n");
    const cut = cutText(`See:\n\`\`\`ts\n${code}\n\`\`\`\nThat is all.`, 120);
    const [head = "", tail = ""] = cut.split(/\[… \d+ characters left out …\]/u);
    expect(head.match(/^```/gmu)).toHaveLength(2);
    expect(tail.match(/^```/gmu)).toHaveLength(2);
    expect(tail.trimEnd().endsWith("That is all.")).toBe(true);
  });

  it("never takes more than its tokens, nor splits a character as people see it", () => {
    const whole = ["a", "b ", "\n", "é", "e\u0301", "猫", "👍🏽", "👩‍👩‍👧", "🇫🇷", "नी", "```\n"];
    const text = fc.string({ unit: fc.constantFrom(...whole), minLength: 40, maxLength: 600 });
    const segments = (part: string): string[] =>
      [...new Intl.Segmenter("en", { granularity: "grapheme" }).segment(part)].map(({ segment }) => segment);
    fc.assert(
      fc.property(text, fc.integer({ min: 20, max: 120 }), (given, tokens) => {
        const cut = cutText(given, tokens);
        expect(estimateTokens(cut)).toBeLessThanOrEqual(tokens);
        expect(cut.isWellFormed()).toBe(true);
        const known = new Set([...segments(given), ...segments("[… 0123456789characters left out …]\n`~")]);
        for (const segment of segments(cut)) expect(known).toContain(segment);
      }),
    );
  });

  it("keeps the beginning alone where it is asked to, and names the place", () => {
    const cut = cutText("x".repeat(1_000), 40, { tail: 0, note: (from, to) => `[${from} to ${to}]` });
    expect(cut).toMatch(/^x+\n\[\d+ to 1000\]$/u);
    expect(cut.split("\n")[0]?.length).toBe(Number(/\[(\d+)/u.exec(cut)?.[1]));
  });
});
