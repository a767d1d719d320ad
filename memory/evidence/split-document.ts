/** Cuts a document into pieces that can be cited: by headings and pages, then by paragraphs, then by sentences. */
import { sliceWhole } from "#src/kernel/slice-text.ts";
import { estimateTokens } from "#src/kernel/tokens.ts";
import {
  countUpTo,
  lineStarts,
  type EvidenceDocument,
  type Heading,
  type TextRange,
} from "./evidence-document.ts";
import { MAX_PIECE_TOKENS } from "./limits.ts";

/** A piece as a range of the document, with its place. */
export interface PieceRange extends TextRange {
  /** Headings above it, outermost first. */
  readonly headings: readonly Heading[];
  readonly page: number | null;
  readonly lines: { readonly from: number; readonly to: number } | null;
}

/** A paragraph, or a part of one that is too long. */
interface Block extends TextRange {
  readonly tokens: number;
  /** Headings and pages up to here; pieces never reach from one section into another. */
  readonly section: number;
  readonly page: number;
}

/** The pieces of `document`, in order. Each holds a letter or number, and at most {@link MAX_PIECE_TOKENS}. */
export function splitDocument(document: EvidenceDocument): PieceRange[] {
  const starts = lineStarts(document.text);
  const paths = headingPaths(document.headings);
  return packed(blocksOf(document, starts)).map(({ start, end, section, page }) => ({
    start,
    end,
    headings: paths[section - 1] ?? [],
    page: document.pages.length === 0 ? null : page,
    lines: document.hasLines ? { from: countUpTo(starts, start), to: countUpTo(starts, end - 1) } : null,
  }));
}

/** For each heading, the headings above it and itself. */
function headingPaths(headings: readonly Heading[]): (readonly Heading[])[] {
  let path: readonly Heading[] = [];
  return headings.map((heading) => {
    path = [...path.filter(({ level }) => level < heading.level), heading];
    return path;
  });
}

function blocksOf(document: EvidenceDocument, starts: readonly number[]): Block[] {
  const { text, headings, pages } = document;
  const headingStarts = headings.map(({ at }) => at);
  const borders = new Set([...headingStarts, ...pages]);
  const blocks: Block[] = [];
  let open: TextRange | undefined;
  const close = (): void => {
    if (open !== undefined)
      for (const { start, end } of cut(text, open)) {
        const tokens = estimateTokens(text.slice(start, end));
        const section = countUpTo(headingStarts, start);
        blocks.push({ start, end, tokens, section, page: countUpTo(pages, start) });
      }
    open = undefined;
  };
  for (const [index, start] of starts.entries()) {
    const end = (starts[index + 1] ?? text.length + 1) - 1;
    const isBlank = text.slice(start, end).trim() === "";
    if (isBlank || borders.has(start)) close();
    if (!isBlank) open = { start: open?.start ?? start, end };
  }
  close();
  return blocks.filter(({ start, end }) => /[\p{L}\p{N}]/u.test(text.slice(start, end)));
}

/** Joins neighbours of one section and page while they fit one piece. */
function packed(blocks: readonly Block[]): Block[] {
  const pieces: Block[] = [];
  for (const block of blocks) {
    const last = pieces.at(-1);
    const isSame = last?.section === block.section && last.page === block.page;
    // What stands between them counts too.
    const tokens =
      last === undefined ? 0 : last.tokens + block.tokens + Math.ceil((block.start - last.end) / 4);
    if (last !== undefined && isSame && tokens <= MAX_PIECE_TOKENS)
      pieces[pieces.length - 1] = { ...last, end: block.end, tokens };
    else pieces.push(block);
  }
  return pieces;
}

/** Parts of a block that each fit one piece. */
function cut(text: string, { start, end }: TextRange): TextRange[] {
  const parts: TextRange[] = [];
  for (let from = start; from < end;) {
    const to = from + fittingLength(text.slice(from, Math.min(end, from + MAX_PIECE_TOKENS * 4)));
    const place = to >= end ? end : from + breakIn(text.slice(from, to));
    parts.push({ start: from, end: place });
    from = place;
  }
  return parts;
}

/** How much of the beginning of `text` fits one piece. */
function fittingLength(text: string): number {
  let part = text;
  for (let tokens = estimateTokens(part); tokens > MAX_PIECE_TOKENS; tokens = estimateTokens(part))
    part = sliceWhole(part, 0, Math.max(2, Math.floor((part.length * MAX_PIECE_TOKENS) / tokens) - 1));
  return part.length;
}

// In the order in which they are tried.
const BREAKS: readonly RegExp[] = [/[.!?…]["'”’)\]]*\s+|[。！？]["”』」]*/gu, /\n/gu, /\s+/gu];

/** Where to end a part: behind a sentence in its second half, else a line, else a word, else where it is full. */
function breakIn(part: string): number {
  for (const pattern of BREAKS) {
    const last = [...part.matchAll(pattern)].at(-1);
    const place = last === undefined ? 0 : last.index + last[0].length;
    if (place > part.length / 2) return place;
  }
  return part.length - (/[\ud800-\udbff]$/u.test(part) ? 1 : 0) || part.length;
}
