/** Documents and passages of evidence in envelopes: labelled as no facts, with citations; and what came of one that was given. */
import { done, type Envelope } from "#src/kernel/envelope.ts";
import { localTime } from "#src/kernel/clock.ts";
import {
  citationOf,
  EVIDENCE_LABEL,
  nameOf,
  pieceText,
  type EvidenceSource,
} from "#memory/evidence/evidence-item.ts";
import type { IngestOutcome, LeftOutPiece } from "#memory/evidence/ingest.ts";
import { POLICY_RULES, type PolicyRule } from "#memory/policy/verdict.ts";
import { shortId } from "#memory/record.ts";
import { counted, joined, markdownTable } from "#src/kernel/markdown.ts";
import type { FoundEvidence } from "#memory/evidence/evidence-book.ts";
import { quoteOf } from "#memory/evidence/quote.ts";
import { refuse } from "../../command.ts";

/** Places of left out pieces that the data names one by one. */
const MAX_PLACES = 20;

/** Places of one rule that the message names. */
const TOLD_PLACES = 3;

/** What is told of an outcome; one of which nothing is kept is refused. */
export function ingestedEnvelope(outcome: IngestOutcome, timeZone: string): Envelope {
  if (outcome.kind === "denied") {
    const { leftOut } = outcome;
    return refuse("memory_policy_denied", `not kept: no passage passes the policy: ${reasons(leftOut)}`, {
      next: "Take the values out of a copy, and give that one. Nothing was stored.",
      data: { rule: leftOut[0]?.rule, leftOut: placesOf(leftOut) },
    });
  }
  const { source } = outcome;
  const { title, path, pieces, warned, hidden } = source;
  const data = { canonical: false, source: sourceRow(source, timeZone) };
  if (outcome.kind === "known") {
    const since = localTime(source.ingested_at, timeZone);
    const message = `The same text is kept as evidence since ${since}: “${title}” (${shortId(source.id)}), from ${path}.`;
    return done("evidence_known", message, { next: "Nothing was changed.", data });
  }
  const { replaced, leftOut, sideBySide } = outcome;
  const since = replaced && localTime(replaced.ingested_at, timeZone);
  const told = [
    `“${title}” is kept as evidence (${shortId(source.id)}): ${counted(pieces, "passage")} of ${nameOf(source)}.`,
    since === null ? "" : `It takes the place of the version of ${since}.`,
    leftOut.length === 0 ? "" : `${counted(leftOut.length, "passage")} left out: ${reasons(leftOut)}.`,
    warned === 0 ? "" : `${counted(warned, "passage")} marked: hidden characters changed how it reads.`,
    hidden === 0 ? "" : `${counted(hidden, "hidden character")} removed.`,
    sideBySide.length === 0 ? "" : columnsText(sideBySide),
  ];
  return done("evidence_ingested", joined(told), {
    next: "It is cited, and never taken for a fact: /memory evidence show <words> looks in it.",
    data: {
      ...data,
      replaced: since,
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

/** E.g. `the text holds a payment card number (card_number, lines 7–11 and page 3)`. */
function reasons(leftOut: readonly LeftOutPiece[]): string {
  const byRule = new Map<PolicyRule, LeftOutPiece[]>();
  for (const piece of leftOut) byRule.set(piece.rule, [...(byRule.get(piece.rule) ?? []), piece]);
  return [...byRule]
    .map(([rule, pieces]) => `${POLICY_RULES[rule]} (${rule}, ${placesText(pieces)})`)
    .join("; ");
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

function sourceRow(source: EvidenceSource, timeZone: string) {
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

/** Documents as data, and as a table: one a line. */
export function sourcesShown(sources: readonly EvidenceSource[], timeZone: string) {
  const rows = sources.map((source) => sourceRow(source, timeZone));
  const cells = rows.map(({ short, title, file, pieces, leftOut, warned, ingested }) => {
    const left = Object.values(leftOut).reduce((sum, count) => sum + count, 0);
    const passages = [
      String(pieces),
      left === 0 ? "" : `${left} left out`,
      warned === 0 ? "" : `${warned} marked`,
    ];
    return [short, title === file ? title : `${title} (${file})`, joined(passages, ", "), ingested];
  });
  return { rows, body: markdownTable(["id", "document", "passages", "since"], cells) };
}

/** Passages with where they stand as data, and as text: one a paragraph, its citation, its words, and what it is not. */
export function piecesShown(
  found: readonly FoundEvidence[],
  { query, timeZone }: { readonly query: string; readonly timeZone: string },
) {
  const rows = found.map(({ source, piece, score }) => ({
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
  }));
  const texts = rows.map(({ label, citation, quote, warning }, index) => {
    const marked = warning === null ? "" : `; marked: ${warning}`;
    return `**${index + 1}. ${citation.text}** “${quote}” (${label}; ${citation.short}, given ${citation.ingested}${marked})`;
  });
  return { rows, body: texts.join("\n\n") };
}
