import { expect, it } from "vitest";
import { quoteOf } from "./quote.ts";

const TEXT = `# Guide\n\n${"Nothing of note here. ".repeat(10)}Walnuts ripen in October. ${"More of the same. ".repeat(10)}`;

it.each([
  ["gives a short passage whole, on one line", "One.\n\nTwo.", "two", "One. Two."],
  [
    "begins at the sentence that fits",
    TEXT,
    "when do walnuts ripen",
    "… Walnuts ripen in October. More of the …",
  ],
  [
    "begins at the beginning where nothing fits",
    TEXT,
    "submarine",
    "# Guide Nothing of note here. Nothing of …",
  ],
])("%s", (_name, text, query, quote) => {
  expect(quoteOf({ text, headings: [] }, query, 40)).toBe(quote);
});

it("gives the end of a passage whole", () => {
  expect(quoteOf({ text: `${"Words before it. ".repeat(9)}Walnuts.`, headings: [] }, "walnuts", 40)).toMatch(
    /^… .*Walnuts\.$/u,
  );
});

it.each([
  ["## Two\n\nText.", "Text."],
  ["Two\n---\nText.", "Text."],
  ["## Two", "## Two"],
  ["Text.", "Text."],
])("leaves out the heading that is cited, unless it is all: %j", (text, quote) => {
  expect(quoteOf({ text, headings: ["One", "Two"] }, "text", 40)).toBe(quote);
});
