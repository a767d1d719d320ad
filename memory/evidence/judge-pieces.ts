/** The policy gate for a document: which of its pieces may be kept, and by which rule the others may not. */
import { findDisguised, namedRule } from "../policy/find-secrets.ts";
import type { SecretScanner } from "../policy/secret-scanner.ts";
import type { Finding, PolicyRule } from "../policy/verdict.ts";
import { overlaps, type EvidenceDocument } from "./evidence-document.ts";
import type { EvidencePiece } from "./evidence-item.ts";
import { findSensitive } from "./find-sensitive.ts";
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
    const text = document.text.slice(piece.start, piece.end).trim();
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
