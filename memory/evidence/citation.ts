/** Where a piece of evidence stands, in words: what every quotation of it carries. */
import { basename } from "node:path";
import { shortId } from "../record.ts";
import type { EvidencePiece, EvidenceSource } from "./evidence-item.ts";
import type { FoundEvidence } from "./evidence-rows.ts";

/** Shown wherever evidence is shown. */
export const EVIDENCE_LABEL = "evidence, not a fact Lily vouches for";

/** E.g. `report.pdf, page 3`, `notes.md › Refunds › Deadlines, lines 12–18`. */
export function citationOf({ source, piece }: Pick<FoundEvidence, "source" | "piece">): string {
  const headings = piece.headings.map((heading) => ` › ${heading}`).join("");
  return `${nameOf(source)}${headings}, ${pieceText(piece)}`;
}

/** The name of a document's file without its folder. */
export function nameOf({ type, path }: Pick<EvidenceSource, "type" | "path">): string {
  return type === "conversation" ? `session ${shortId(path.replace("session:", ""))}` : basename(path);
}

/** The place of a piece in its document, e.g. `lines 12–18`. */
export function pieceText({ page, lines, index }: Pick<EvidencePiece, "page" | "lines" | "index">): string {
  if (page !== null) return `page ${page}`;
  if (lines === null) return `part ${index + 1}`;
  return lines.from === lines.to ? `line ${lines.from}` : `lines ${lines.from}–${lines.to}`;
}
