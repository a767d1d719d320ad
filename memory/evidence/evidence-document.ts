/** A document as it was read: one text without hidden characters, with the places of its headings and pages. */
import { cleanHidden, isDeceptive } from "../policy/hidden-text.ts";
import type { DocumentType } from "./evidence-item.ts";

/** A heading, by the place at which its line begins. */
export interface Heading {
  readonly at: number;
  /** 1 is outermost. */
  readonly level: number;
  readonly text: string;
}

/** A range of characters; `end` is behind the last. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** A document without hidden characters, with line feeds alone. */
export interface EvidenceDocument {
  readonly type: DocumentType;
  readonly title: string | null;
  readonly text: string;
  /** In the order of their places. */
  readonly headings: readonly Heading[];
  /** Where each page begins; none where there are no pages. */
  readonly pages: readonly number[];
  /** Numbers of the pages on which text stands side by side, so that columns may have been read across. */
  readonly sideBySide: readonly number[];
  /** Whether its lines are those of the file, so that they can be cited. */
  readonly hasLines: boolean;
  /** Characters that were removed because nobody sees them. */
  readonly hidden: number;
  /** Where hidden characters spelled something, or turned the order of what is read. */
  readonly deceptive: readonly TextRange[];
}

/** Whether two ranges share a character. */
export function overlaps(a: TextRange, b: TextRange): boolean {
  return a.start < b.end && b.start < a.end;
}

/** How many of `places`, which are in order, are at or before `at`. */
export function countUpTo(places: readonly number[], at: number): number {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((places[middle] ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Where each line of `text` begins. */
export function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** The lines of a range of `text`, without their ends. */
export function linesIn(text: string, { start, end }: TextRange): TextRange[] {
  const starts = lineStarts(text.slice(start, end));
  return starts.map((at, index) => ({
    start: start + at,
    end: start + (starts[index + 1] ?? end - start + 1) - 1,
  }));
}

// What deceives is judged by how much of it stands together, so a long text is judged by parts of whole lines.
const PART = /[\s\S]{1,2000}[^\n]*\n?/gu;
const PLAIN = /^[\n\t\u0020-\u007e]*$/u;

/** Cleans `raw`, and makes its text NFC with line feeds alone. Pages and tabs of printers become blanks. */
export function cleanDocument(raw: string): Pick<EvidenceDocument, "text" | "hidden" | "deceptive"> {
  const deceptive: TextRange[] = [];
  let text = "";
  let hidden = 0;
  for (const [part] of raw
    .replaceAll("\r\n", "\n")
    .replaceAll(/[\f\v]/gu, " ")
    .matchAll(PART)) {
    const clean = PLAIN.test(part) ? { text: part, hidden: null } : cleanHidden(part);
    const start = text.length;
    text += clean.text.normalize("NFC");
    if (clean.hidden === null) continue;
    hidden += clean.hidden.codes.reduce((sum, { count }) => sum + count, 0);
    if (isDeceptive(clean.hidden)) deceptive.push({ start, end: text.length });
  }
  return { text, hidden, deceptive };
}
