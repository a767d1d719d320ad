import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { excerptOf } from "./excerpt.ts";

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
