import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { estimateTokens } from "#src/kernel/text.ts";
import { type EvidenceDocument, MAX_PIECE_TOKENS, markdownHeadings } from "./evidence-document.ts";
import { splitDocument } from "./split-document.ts";

function markdown(text: string, more: Partial<EvidenceDocument> = {}): EvidenceDocument {
  return {
    type: "markdown",
    title: null,
    text,
    headings: markdownHeadings(text),
    pages: [],
    sideBySide: [],
    hasLines: true,
    hidden: 0,
    deceptive: [],
    ...more,
  };
}

/** About `tokens` tokens of prose. */
const prose = (tokens: number): string =>
  "Words of a plain text. ".repeat(Math.ceil((tokens * 4) / 23)).trim();

const shown = async (document: EvidenceDocument) =>
  (await splitDocument(document)).map(({ start, end, headings, page, lines }) => ({
    text: document.text.slice(start, end),
    headings: headings.map(({ text }) => text),
    page,
    lines,
  }));

describe("a document is cut", () => {
  it("at headings, each piece with those above it and its lines", async () => {
    const text = "Before.\n\n# Guide\n\nIntro.\n\n## Setup\nDo it.\n\nThen rest.\n\n# End\nDone.";
    expect(await shown(markdown(text))).toEqual([
      { text: "Before.", headings: [], page: null, lines: { from: 1, to: 1 } },
      { text: "# Guide\n\nIntro.", headings: ["Guide"], page: null, lines: { from: 3, to: 5 } },
      {
        text: "## Setup\nDo it.\n\nThen rest.",
        headings: ["Guide", "Setup"],
        page: null,
        lines: { from: 7, to: 10 },
      },
      { text: "# End\nDone.", headings: ["End"], page: null, lines: { from: 12, to: 13 } },
    ]);
  });

  it("at pages, which are cited in place of lines", async () => {
    const document = markdown("one\ntwo\nthree", { type: "pdf", pages: [0, 4, 8], hasLines: false });
    expect(await shown(document)).toMatchObject([
      { text: "one", page: 1, lines: null },
      { text: "two", page: 2 },
      { text: "three", page: 3 },
    ]);
  });

  it("between paragraphs, which stay together while they fit", async () => {
    const [a, b, c] = [prose(150), prose(180), prose(120)];
    expect((await shown(markdown(`${a}\n\n${b}\n\n${c}`))).map(({ text }) => text)).toEqual([
      `${a}\n\n${b}`,
      c,
    ]);
  });

  it("behind a sentence where a paragraph is too long", async () => {
    const pieces = await shown(markdown(prose(1_000)));
    expect(pieces.length).toBeGreaterThan(2);
    for (const { text } of pieces) expect(text.trim()).toMatch(/^Words.*text\.$/su);
  });

  it("anywhere in a line without blanks, never inside a character", async () => {
    const text = "💜a".repeat(2_000);
    const pieces = await shown(markdown(text));
    expect(pieces.map((piece) => piece.text).join("")).toBe(text);
    for (const piece of pieces) expect(piece.text.isWellFormed()).toBe(true);
  });

  it("into nothing where there is neither letter nor number", async () => {
    expect(await shown(markdown("---\n\n***\n\n| | |\n"))).toEqual([]);
  });

  it("into pieces that fit, in order, and lose no word", async () => {
    const line = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.constantFrom(
          "",
          "\n\n\n\n\n\n",
          "# Head",
          "## Sub",
          "- item",
          "```",
          "猫が好き。",
          "a,b,c",
        ),
      },
      { weight: 2, arbitrary: fc.integer({ min: 1, max: 900 }).map(prose) },
      { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 40 }) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: 900 }).map((count) => "猫".repeat(count)) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 30 }), async (lines) => {
        const document = markdown(lines.join("\n"));
        const pieces = await splitDocument(document);
        let last = 0;
        for (const { start, end } of pieces) {
          expect(start).toBeGreaterThanOrEqual(last);
          expect(end).toBeGreaterThan(start);
          expect(estimateTokens(document.text.slice(start, end))).toBeLessThanOrEqual(MAX_PIECE_TOKENS);
          last = end;
        }
        const kept = pieces.map(({ start, end }) => document.text.slice(start, end)).join("");
        const words = (text: string) => text.match(/[\p{L}\p{N}]/gu) ?? [];
        expect(words(kept)).toEqual(words(document.text));
      }),
      // With a separator of lines of Unicode, by which sentences are marked.
      { examples: [[["猫".repeat(394), "", "猫が好き。", "\u2028🈯"]], [["猫".repeat(394), "\v\u2029🈯"]]] },
    );
  });
});
