/** Documents and passages of evidence in envelopes: labelled as no facts, with citations; and what came of one that was given. */
import { done, type Envelope, refused } from "#src/kernel/envelope.ts";
import { localTime } from "#src/sessions/day-boundary.ts";
import { citationOf, EVIDENCE_LABEL, nameOf, pieceText } from "#memory/evidence/citation.ts";
import type { EvidenceSource } from "#memory/evidence/evidence-item.ts";
import type { IngestOutcome } from "#memory/evidence/ingest.ts";
import type { LeftOutPiece } from "#memory/evidence/judge-pieces.ts";
import { POLICY_RULES, type PolicyRule } from "#memory/policy/verdict.ts";
import { shortId } from "#memory/record.ts";
import { counted, joined, markdownTable } from "#src/kernel/markdown.ts";
import type { FoundEvidence } from "#memory/evidence/evidence-rows.ts";
import { quoteOf } from "#memory/evidence/quote.ts";

/** Places of left out pieces that the data names one by one. */
const MAX_PLACES = 20;

/** Places of one rule that the message names. */
const TOLD_PLACES = 3;

/** The envelope of an outcome. */
export function ingestedEnvelope(outcome: IngestOutcome, timeZone: string): Envelope {
  switch (outcome.kind) {
    case "known":
      return knownEnvelope(outcome.source, timeZone);
    case "denied":
      return deniedEnvelope(outcome.leftOut);
    case "stored":
      return storedEnvelope(outcome, timeZone);
  }
}

type StoredOutcome = Extract<IngestOutcome, { kind: "stored" }>;

function storedEnvelope(
  { source, replaced, leftOut, sideBySide }: StoredOutcome,
  timeZone: string,
): Envelope {
  const { title, warned, hidden } = source;
  const since = replaced === null ? "" : localTime(replaced.ingested_at, timeZone);
  const told = [
    `“${title}” is kept as evidence (${shortId(source.id)}): ${counted(source.pieces, "passage")} of ${nameOf(source)}.`,
    replaced === null ? "" : `It takes the place of the version of ${since}.`,
    leftOut.length === 0 ? "" : `${counted(leftOut.length, "passage")} left out: ${reasons(leftOut)}.`,
    warned === 0 ? "" : `${counted(warned, "passage")} marked: hidden characters changed how it reads.`,
    hidden === 0 ? "" : `${counted(hidden, "hidden character")} removed.`,
    sideBySide.length === 0 ? "" : columnsText(sideBySide),
  ];
  return done("evidence_ingested", joined(told), {
    next: "It is cited, and never taken for a fact: /memory evidence show <words> looks in it.",
    data: {
      canonical: false,
      source: sourceRow(source, timeZone),
      replaced: replaced === null ? null : since,
      leftOut: placesOf(leftOut),
      ...(sideBySide.length === 0 ? {} : { sideBySide: sideBySide.slice(0, MAX_PLACES) }),
    },
  });
}

/** A table is read so rightly; columns of prose are not, and only a person can tell. */
function columnsText(pages: readonly number[]): string {
  const told = pages.slice(0, TOLD_PLACES).join(", ");
  const more = pages.length - TOLD_PLACES;
  const where = `page${pages.length === 1 ? "" : "s"} ${told}${more > 0 ? ` and ${more} more` : ""}`;
  return `On ${where} text stands side by side: it was read across the page, line by line, so columns may be mixed.`;
}

function knownEnvelope(source: EvidenceSource, timeZone: string): Envelope {
  const since = localTime(source.ingested_at, timeZone);
  return done(
    "evidence_known",
    `The same text is kept as evidence since ${since}: “${source.title}” (${shortId(source.id)}), from ${source.path}.`,
    { next: "Nothing was changed.", data: { canonical: false, source: sourceRow(source, timeZone) } },
  );
}

function deniedEnvelope(leftOut: readonly LeftOutPiece[]): Envelope {
  const [rule] = byRule(leftOut).keys();
  return refused("memory_policy_denied", `not kept: no passage passes the policy: ${reasons(leftOut)}`, {
    next: "Take the values out of a copy, and give that one. Nothing was stored.",
    data: { rule, leftOut: placesOf(leftOut) },
  });
}

/** E.g. `the text holds a payment card number (card_number, lines 7–11 and page 3)`. */
function reasons(leftOut: readonly LeftOutPiece[]): string {
  return [...byRule(leftOut)]
    .map(([rule, pieces]) => `${POLICY_RULES[rule]} (${rule}, ${placesText(pieces)})`)
    .join("; ");
}

function byRule(leftOut: readonly LeftOutPiece[]): Map<PolicyRule, LeftOutPiece[]> {
  const rules = new Map<PolicyRule, LeftOutPiece[]>();
  for (const piece of leftOut) rules.set(piece.rule, [...(rules.get(piece.rule) ?? []), piece]);
  return rules;
}

function placesText(pieces: readonly LeftOutPiece[]): string {
  const more = pieces.length - TOLD_PLACES;
  const told = pieces.slice(0, TOLD_PLACES).map(pieceText).join(", ");
  return more > 0 ? `${told} and ${more} more` : told;
}

function placesOf(leftOut: readonly LeftOutPiece[]) {
  return leftOut.slice(0, MAX_PLACES).map(({ rule, page, lines }) => ({ rule, page, lines }));
}

/** Shown in a table; the whole passage is beside it. */
const QUOTE_CHARACTERS = 300;

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
    ingested: localTime(source.ingested_at, timeZone),
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
      ingested: localTime(source.ingested_at, timeZone),
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
    return [short, title === file ? title : `${title} (${file})`, joined(passages, ", "), ingested];
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
