/** Takes hidden characters out of a long text, and notes where they deceived the reader. */
import { cleanHidden, isDeceptive } from "../policy/hidden-text.ts";
import type { TextRange } from "./evidence-document.ts";

/** A text without hidden characters. */
export interface CleanDocument {
  readonly text: string;
  /** How many characters were removed. */
  readonly hidden: number;
  readonly deceptive: readonly TextRange[];
}

// What deceives is judged by how much of it stands together, so a long text is judged by parts.
const PART_CHARACTERS = 2_000;
const PLAIN = /^[\n\t\u0020-\u007e]*$/u;

/** Cleans `raw`, and makes its text NFC with line feeds alone. Pages and tabs of printers become blanks. */
export function cleanDocument(raw: string): CleanDocument {
  const text: string[] = [];
  const deceptive: TextRange[] = [];
  let hidden = 0;
  let start = 0;
  for (const part of partsOf(raw.replaceAll("\r\n", "\n").replaceAll(/[\f\v]/gu, " "))) {
    const clean = PLAIN.test(part) ? { text: part, hidden: null } : cleanHidden(part);
    const kept = clean.text.normalize("NFC");
    hidden += clean.hidden?.codes.reduce((sum, { count }) => sum + count, 0) ?? 0;
    const end = start + kept.length;
    if (clean.hidden !== null && isDeceptive(clean.hidden)) deceptive.push({ start, end });
    text.push(kept);
    start = end;
  }
  return { text: text.join(""), hidden, deceptive };
}

/** Whole lines, about {@link PART_CHARACTERS} together. */
function* partsOf(text: string): Generator<string> {
  for (let start = 0; start < text.length;) {
    const feed = text.indexOf("\n", start + PART_CHARACTERS);
    const end = feed < 0 ? text.length : feed + 1;
    yield text.slice(start, end);
    start = end;
  }
}
