/** A document as it was read: how much it may be, its text without hidden characters, and the places of its headings and pages. */
import { decodeText } from "#src/kernel/decode-text.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { cleanHidden, isDeceptive } from "../policy/check-text.ts";
import type { DocumentType } from "./evidence-item.ts";

/** Bytes of a file: a long book, or a scanned paper with its text. */
export const MAX_FILE_BYTES = 10_000_000;

/** Characters of its text, which a compressed file may unfold to. */
export const MAX_TEXT_CHARACTERS = 5_000_000;

/** Pages of a PDF. */
export const MAX_PAGES = 5_000;

/** Pieces of a document: so many that a larger one is no document but data. */
export const MAX_PIECES = 10_000;

/** Tokens of a piece: a paragraph or a few, and three of them fit a prompt beside a conversation. */
export const MAX_PIECE_TOKENS = 400;

/** The error for a document that is none, or none that can be read here. Nothing of its content is repeated. */
export function unreadable(name: string, why: string, next: string): LilyError {
  return new LilyError("evidence_unreadable", `${name} ${why}`, { next: `${next} Nothing was stored.` });
}

/** The text of a document. @throws {LilyError} `evidence_unreadable` */
export function textIn(bytes: Uint8Array, name: string, declared?: string): string {
  const { text, problem, next } = decodeText(bytes, declared);
  if (text === undefined) throw unreadable(name, problem, next);
  return text;
}

/** The error for a document that is too much for one. */
export function tooMuch(name: string, what: string): LilyError {
  return new LilyError("file_too_large", `${name} ${what}`, {
    next: "Split it, and give the parts. Nothing was stored.",
  });
}

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

const HASHES = /^ {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$/u;
const FENCE = /^ {0,3}(`{3,}|~{3,})/u;
const UNDERLINE = /^ {0,3}(=+|-{2,})[ \t]*$/u;
// A line that can be the text of an underlined heading: no list, quote, table, code or blank.
const PLAIN_LINE = /^ {0,3}(?![-*+>|#]|\d+[.)]\s)\S/u;

/** The headings of a Markdown text, in the order of their places: `#` lines and underlined ones, outside code and front matter. */
export function markdownHeadings(text: string): Heading[] {
  const headings: Heading[] = [];
  const starts = lineStarts(text);
  const lines = text.split("\n");
  let fence: string | undefined;
  for (let index = frontMatterLines(lines); index < lines.length; index += 1) {
    const line = lines[index] ?? "";
    const mark = FENCE.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark?.startsWith(fence) === true) fence = undefined;
    } else if (mark !== undefined) fence = mark;
    else {
      const heading = headingAt(lines, index);
      if (heading !== undefined) headings.push({ at: starts[index] ?? 0, ...heading });
    }
  }
  return headings;
}

function headingAt(lines: readonly string[], index: number): Omit<Heading, "at"> | undefined {
  const line = lines[index] ?? "";
  const [, hashes = "", title = ""] = HASHES.exec(line) ?? [];
  if (title !== "") return { level: hashes.length, text: plain(title) };
  const under = UNDERLINE.exec(lines[index + 1] ?? "")?.[1];
  if (under === undefined || !PLAIN_LINE.test(line)) return undefined;
  return { level: under.startsWith("=") ? 1 : 2, text: plain(line) };
}

/** Without emphasis, code marks and the targets of links. */
function plain(title: string): string {
  return title
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/gu, "$1")
    .replaceAll(/[*`]+/gu, "")
    .trim();
}

function frontMatterLines(lines: readonly string[]): number {
  if (lines[0]?.trimEnd() !== "---") return 0;
  const end = lines.findIndex((line, index) => index > 0 && /^(?:---|\.\.\.)\s*$/u.test(line));
  return end + 1;
}
