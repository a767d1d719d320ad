import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { estimateTokens } from "#src/kernel/text.ts";
import { cutText, excerptOf } from "./cut-text.ts";

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

const filler = (count: number): string => "It went on about nothing at all. ".repeat(count);

describe("an excerpt", () => {
  it("is the whole of a short text", () => {
    expect(excerptOf("a violin", "violin", 8)).toBe("a violin");
  });

  it("begins with the sentence that says what was asked, and says that it is a part", () => {
    const shown = excerptOf(
      `${filler(40)}The vault code is ZEBRA-7. ${filler(40)}`,
      "what is the vault code?",
      200,
    );
    expect(shown).toMatch(/^… The vault code is ZEBRA-7\. .* … \[part of \d+ characters\]$/u);
  });

  it("takes the place with most of the words, not the first with one of them", () => {
    const text = `The vault is old. ${filler(30)}The code of the vault is ZEBRA-7. ${filler(30)}`;
    expect(excerptOf(text, "vault code", 120)).toContain("ZEBRA-7");
  });

  it("finds words in scripts that put no space between them", () => {
    const text = `${"今天天气很好。".repeat(60)}金库的密码是七号。${"今天天气很好。".repeat(60)}`;
    expect(excerptOf(text, "密码", 60)).toContain("密码是七号");
  });

  it("opens and closes a block of code that it cuts", () => {
    const code = Array.from(
      { length: 60 },
      (_, line) => `const v${line} = "${line === 30 ? "zebra" : "horse"}";`,
    );
    const shown = excerptOf(`Here:\n\`\`\`ts\n${code.join("\n")}\n\`\`\`\nDone.`, "zebra", 200);
    expect(shown).toContain("zebra");
    expect(shown.match(/```/gu)).toHaveLength(2);
    expect(shown).toContain("```ts\nconst v");
  });

  it("is the beginning where nothing fits", () => {
    expect(excerptOf(filler(20), "zebra", 100).startsWith("It went on")).toBe(true);
  });

  it("is well formed, near its limit and cuts through no emoji, whatever the text", () => {
    const unit = fc.constantFrom("a", " ", "😀", "e\u0301", "👩‍👧", "猫", "\n", "```\n", "zebra ", ". ");
    fc.assert(
      fc.property(
        fc.string({ unit, minLength: 100, maxLength: 400 }),
        fc.integer({ min: 40, max: 99 }),
        (text, limit) => {
          const shown = excerptOf(text, "zebra 猫", limit);
          expect(shown.isWellFormed()).toBe(true);
          expect(shown.length).toBeLessThan(limit + 60);
          expect((shown.match(/^[ \t]*```/gmu) ?? []).length % 2).toBe(0);
        },
      ),
    );
  });
});
