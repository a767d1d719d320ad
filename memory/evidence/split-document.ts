/** Cuts a document into pieces that can be cited: by headings and pages, by tables, paragraphs and sentences. */
import { estimateTokens } from "#src/kernel/text.ts";
import {
  countUpTo,
  lineStarts,
  type EvidenceDocument,
  type Heading,
  type TextRange,
  MAX_PIECE_TOKENS,
  MAX_PIECES,
} from "./evidence-document.ts";
import { tablesIn, type Table } from "./tables.ts";

/** A piece as a range of the document, with its place. */
export interface PieceRange extends TextRange {
  /** The row that names the columns of the table in which the piece begins, where it stands before the piece. */
  readonly header: TextRange | null;
  /** Headings above it, outermost first. */
  readonly headings: readonly Heading[];
  readonly page: number | null;
  readonly lines: { readonly from: number; readonly to: number } | null;
}

/** Of a piece, what a header may take at most; a longer one is not repeated. */
const MAX_HEADER_TOKENS = MAX_PIECE_TOKENS * 0.75;

/**
 * The pieces of `document`, in order. Each holds a letter or number, and at most {@link MAX_PIECE_TOKENS}. Once there are
 * more than {@link MAX_PIECES} the rest is not looked at.
 */
export async function splitDocument(document: EvidenceDocument): Promise<PieceRange[]> {
  const { text, headings, pages } = document;
  const starts = lineStarts(text);
  const headingStarts = headings.map(({ at }) => at);
  const paths = headingPaths(headings);
  const pieces: PieceRange[] = [];
  let last: Table | undefined;
  for (const section of sectionsOf(document)) {
    if (pieces.length > MAX_PIECES) break;
    // A table goes on over a page, and not below another heading.
    const tables = tablesIn(text, section, pages.includes(section.start) ? last : undefined);
    last = tables.at(-1);
    for (const { header, ...part } of partsOf(text, section, tables))
      for (const piece of await cut(text, part, header))
        pieces.push({
          ...piece,
          header: header !== null && piece.start >= header.end ? header : null,
          headings: paths[countUpTo(headingStarts, piece.start) - 1] ?? [],
          page: pages.length === 0 ? null : countUpTo(pages, piece.start),
          lines: document.hasLines
            ? { from: countUpTo(starts, piece.start), to: countUpTo(starts, piece.end - 1) }
            : null,
        });
  }
  return pieces;
}

/** For each heading, the headings above it and itself. */
function headingPaths(headings: readonly Heading[]): (readonly Heading[])[] {
  let path: readonly Heading[] = [];
  return headings.map((heading) => {
    path = [...path.filter(({ level }) => level < heading.level), heading];
    return path;
  });
}

/** What stands between two headings or ends of pages. */
function sectionsOf({ text, headings, pages }: EvidenceDocument): TextRange[] {
  const starts = [...new Set([0, ...headings.map(({ at }) => at), ...pages])].sort((a, b) => a - b);
  return starts.map((start, index) => ({ start, end: starts[index + 1] ?? text.length }));
}

/** The section as one, but for tables that are cut: each apart, with its header. */
function partsOf(
  text: string,
  section: TextRange,
  tables: readonly Table[],
): Pick<PieceRange, "start" | "end" | "header">[] {
  const parts: Pick<PieceRange, "start" | "end" | "header">[] = [];
  let from = section.start;
  for (const { header, ...table } of tables) {
    // A heading or caption alone is no part.
    const above = text.slice(from, table.start).trim();
    const { start, end } = above.includes("\n") ? table : { ...table, start: from };
    const goesOn = header !== null && header.start < section.start;
    if (!goesOn && tokensOf(text, { start, end }) <= MAX_PIECE_TOKENS) continue;
    const isShort = header !== null && tokensOf(text, header) <= MAX_HEADER_TOKENS;
    parts.push({ start: from, end: start, header: null }, { start, end, header: isShort ? header : null });
    from = end;
  }
  return [...parts, { start: from, end: section.end, header: null }];
}

const tokensOf = (text: string, { start, end }: TextRange): number => estimateTokens(text.slice(start, end));

const SENTENCE_END = /[.!?…]["'”’)\]]*\s+|[。！？]["”』」]*/gu;
/** Where words have no blanks between them, or are none; 300 characters fit a piece in any script. */
const LONG_RUN = /[^ \t\n\u2028]{300}/gu;
// Marks for the splitter, which knows separators alone. A text that holds them itself is cut as if they were blanks.
const SENTENCE = "\u2028";
const RUN = "\u2029";
const JOINED_LINES = "\v";
/** The heading that a section begins with, and the blank lines below: it stays with what follows. */
const HEADING = /^ {0,3}#.*\n+|^.+\n(?:=+|-+)\n+/u;

/** The parts of a range that each fit one piece, below `header` where there is one. */
async function cut(text: string, range: TextRange, header: TextRange | null): Promise<TextRange[]> {
  if (header === null && tokensOf(text, range) <= MAX_PIECE_TOKENS) return trimmed(text, range);
  const { RecursiveCharacterTextSplitter } = await import("@langchain/textsplitters");
  const splitter = new RecursiveCharacterTextSplitter({
    // One more for the line feed below the header.
    chunkSize: MAX_PIECE_TOKENS - (header === null ? 0 : tokensOf(text, header) + 1),
    chunkOverlap: 0,
    lengthFunction: estimateTokens,
    separators: [...(header === null ? ["\n\n", SENTENCE] : []), "\n", " ", "\t", RUN],
  });
  const raw = text.slice(range.start, range.end).replaceAll(/[\u2028\u2029\v]/gu, " ");
  const marked = raw
    .replaceAll(SENTENCE_END, `$&${SENTENCE}`)
    .replaceAll(LONG_RUN, `$&${RUN}`)
    .replace(HEADING, (heading) => heading.replaceAll("\n", JOINED_LINES));
  const parts: TextRange[] = [];
  let from = 0;
  for (const chunk of await splitter.splitText(marked)) {
    const part = chunk.replaceAll(/[\u2028\u2029]/gu, "").replaceAll(JOINED_LINES, "\n");
    const start = raw.indexOf(part, from);
    from = start + part.length;
    if (/[\p{L}\p{N}]/u.test(part)) parts.push({ start: range.start + start, end: range.start + from });
  }
  return parts;
}

/** The range without blanks at its ends; nothing when it holds neither letter nor number. */
function trimmed(text: string, range: TextRange): TextRange[] {
  const raw = text.slice(range.start, range.end);
  const start = range.start + raw.length - raw.trimStart().length;
  return /[\p{L}\p{N}]/u.test(raw) ? [{ start, end: start + raw.trim().length }] : [];
}
