/** Documents and pieces of evidence as envelopes carry them: labelled as no facts, with their citations. */
import { fromInstant } from "#src/kernel/clock.ts";
import { markdownTable } from "#src/kernel/markdown.ts";
import { localMinute } from "#src/sessions/day-boundary.ts";
import { citationOf, EVIDENCE_LABEL, nameOf } from "#memory/evidence/citation.ts";
import type { EvidenceSource } from "#memory/evidence/evidence-item.ts";
import type { FoundEvidence } from "#memory/evidence/evidence-rows.ts";
import { quoteOf } from "#memory/evidence/quote.ts";
import { shortId } from "#memory/record.ts";

/** Shown in a table; the whole passage is beside it. */
const QUOTE_CHARACTERS = 300;

/** One document. */
export function sourceRow(source: EvidenceSource, timeZone: string) {
  return {
    id: source.id,
    short: shortId(source.id),
    canonical: false,
    title: source.title,
    file: nameOf(source),
    path: source.path,
    type: source.type,
    bytes: source.bytes,
    pages: source.pages,
    pieces: source.pieces,
    leftOut: source.left_out,
    warned: source.warned,
    hidden: source.hidden,
    ingested: localMinute(fromInstant(source.ingested_at), timeZone),
    sha256: source.sha256,
  };
}

/** One piece, with where it stands. */
export function pieceRow(
  { source, piece, score }: FoundEvidence,
  { query, timeZone }: { readonly query: string; readonly timeZone: string },
) {
  return {
    canonical: false,
    label: EVIDENCE_LABEL,
    citation: {
      text: citationOf({ source, piece }),
      sourceId: source.id,
      short: shortId(source.id),
      file: nameOf(source),
      path: source.path,
      headings: piece.headings,
      page: piece.page,
      lines: piece.lines,
      ingested: localMinute(fromInstant(source.ingested_at), timeZone),
    },
    quote: quoteOf(piece, query, QUOTE_CHARACTERS),
    text: piece.text,
    warning: piece.warning,
    score: Math.round(score * 1_000) / 1_000,
  };
}

/** One document a line. */
export function sourcesTable(rows: readonly ReturnType<typeof sourceRow>[]): string {
  const cells = rows.map(({ short, title, file, pieces, leftOut, warned, ingested }) => {
    const left = Object.values(leftOut).reduce((sum, count) => sum + count, 0);
    const passages = [
      String(pieces),
      left === 0 ? "" : `${left} left out`,
      warned === 0 ? "" : `${warned} marked`,
    ];
    return [
      short,
      title === file ? title : `${title} (${file})`,
      passages.filter((part) => part !== "").join(", "),
      ingested,
    ];
  });
  return markdownTable(["id", "document", "passages", "since"], cells);
}

/** One passage a paragraph: its citation, its words, and what it is not. */
export function piecesText(rows: readonly ReturnType<typeof pieceRow>[]): string {
  return rows
    .map(({ label, citation, quote, warning }, index) => {
      const marked = warning === null ? "" : `; marked: ${warning}`;
      return `**${index + 1}. ${citation.text}** “${quote}” (${label}; ${citation.short}, given ${citation.ingested}${marked})`;
    })
    .join("\n\n");
}
