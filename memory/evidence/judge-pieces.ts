/** The policy gate for a document: which of its pieces may be kept, and by which rule the others may not. */
import { findDisguised, findShown, namedRule } from "../policy/find-secrets.ts";
import type { SecretScanner } from "../policy/secret-scanner.ts";
import type { Finding, PolicyRule } from "../policy/verdict.ts";
import { overlaps, type EvidenceDocument, type TextRange } from "./evidence-document.ts";
import type { EvidencePiece } from "./evidence-item.ts";
import type { PieceRange } from "./split-document.ts";

/** A piece that may be kept. */
export type KeptPiece = Pick<EvidencePiece, "index" | "text" | "headings" | "page" | "lines" | "warning">;

/** A piece that may not, by its place alone. */
export interface LeftOutPiece extends Pick<EvidencePiece, "index" | "page" | "lines"> {
  readonly rule: PolicyRule;
}

/** What the gate says of a document. */
export interface JudgedPieces {
  readonly kept: readonly KeptPiece[];
  readonly leftOut: readonly LeftOutPiece[];
  /** Rules broken outside the text: by the title. */
  readonly isTitleKept: boolean;
}

/** In place of a heading that holds a secret. */
const LEFT_OUT = "…";

/**
 * Judges the pieces. The document is searched as a whole, because a secret may reach from one piece into the next. Text
 * that hid something is kept with a warning: it is cited, never obeyed.
 */
export async function judgePieces(
  document: EvidenceDocument,
  pieces: readonly PieceRange[],
  scan: SecretScanner,
): Promise<JudgedPieces> {
  const findings = await findSensitive(document.text, scan);
  const kept: KeptPiece[] = [];
  const leftOut: LeftOutPiece[] = [];
  for (const [index, piece] of pieces.entries()) {
    const text = textOf(document, piece, findings);
    const { page, lines } = piece;
    const inPiece = findings.filter((found) => overlaps(found, piece));
    const rule = inPiece.length > 0 ? namedRule(inPiece) : await findDisguised(text, scan);
    if (rule !== undefined) leftOut.push({ index, page, lines, rule });
    else {
      const headings = piece.headings.map((heading) =>
        holdsFinding(heading, findings) ? LEFT_OUT : heading.text,
      );
      kept.push({ index, text, headings, page, lines, warning: warningOf(document, piece) });
    }
  }
  const isTitleKept = document.title === null || (await findSensitive(document.title, scan)).length === 0;
  return { kept, leftOut, isTitleKept };
}

/** The text of a piece, below the header of its table unless that holds what may not be kept. */
function textOf(
  { text }: EvidenceDocument,
  { start, end, header }: PieceRange,
  findings: readonly Finding[],
): string {
  const body = text.slice(start, end);
  if (header === null || findings.some((found) => overlaps(found, header))) return body;
  return `${text.slice(header.start, header.end)}\n${body}`;
}

function holdsFinding(
  { at, text }: { readonly at: number; readonly text: string },
  findings: readonly Finding[],
) {
  // The line may hold marks beside the text of the heading.
  return findings.some((found) => overlaps(found, { start: at, end: at + text.length + 8 }));
}

function warningOf({ deceptive }: EvidenceDocument, piece: PieceRange): PolicyRule | null {
  return deceptive.some((range) => overlaps(range, piece)) ? "hidden_text" : null;
}

/** Small, because some rules compare every word of a part with every other. */
const PART_CHARACTERS = 16_000;
/** Longer than a private key: one that begins in a part ends in it, or stands whole in the next. */
const OVERLAP_CHARACTERS = 4_000;

/** Secrets and sensitive numbers in a long text, by parts that overlap. One that stands in two parts is found twice. */
async function findSensitive(text: string, scan: SecretScanner): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { start, end } of partsOf(text)) {
    const found = await findShown(text.slice(start, end), scan);
    findings.push(...found.map((one) => ({ ...one, start: one.start + start, end: one.end + start })));
  }
  return findings;
}

/** Parts that begin where a line does, if there are lines. */
function* partsOf(text: string): Generator<TextRange> {
  for (let start = 0; start < text.length;) {
    const end = Math.min(text.length, start + PART_CHARACTERS);
    yield { start, end };
    if (end === text.length) return;
    const overlap = end - OVERLAP_CHARACTERS;
    const feed = text.lastIndexOf("\n", overlap);
    start = feed > start ? feed + 1 : overlap;
  }
}
