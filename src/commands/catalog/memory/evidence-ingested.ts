/** What is told of a document that was taken in, was known, or was refused. */
import { fromInstant } from "#src/kernel/clock.ts";
import { done, refused, type Envelope } from "#src/kernel/envelope.ts";
import { localMinute } from "#src/sessions/day-boundary.ts";
import { nameOf } from "#memory/evidence/citation.ts";
import type { EvidenceSource } from "#memory/evidence/evidence-item.ts";
import type { IngestOutcome } from "#memory/evidence/ingest.ts";
import type { LeftOutPiece } from "#memory/evidence/judge-pieces.ts";
import { POLICY_RULES, type PolicyRule } from "#memory/policy/policy-rules.ts";
import { shortId } from "#memory/record.ts";
import { sourceRow } from "./evidence-row.ts";

/** Places of left out pieces that are told one by one. */
const MAX_PLACES = 20;

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

function storedEnvelope({ source, replaced, leftOut }: StoredOutcome, timeZone: string): Envelope {
  const { title, warned, hidden } = source;
  const since = replaced === null ? "" : localMinute(fromInstant(replaced.ingested_at), timeZone);
  const told = [
    `“${title}” is kept as evidence (${shortId(source.id)}): ${count(source.pieces, "passage")} of ${nameOf(source)}.`,
    replaced === null ? "" : `It takes the place of the version of ${since}.`,
    leftOut.length === 0 ? "" : `${count(leftOut.length, "passage")} left out: ${reasons(leftOut)}.`,
    warned === 0
      ? ""
      : `${count(warned, "passage")} marked: what reads like an instruction is quoted, never obeyed.`,
    hidden === 0 ? "" : `${count(hidden, "hidden character")} removed.`,
  ];
  return done("evidence_ingested", told.filter((part) => part !== "").join(" "), {
    next: "It is cited, and never taken for a fact: /memory evidence show <words> looks in it.",
    data: {
      canonical: false,
      source: sourceRow(source, timeZone),
      replaced: replaced === null ? null : since,
      leftOut: placesOf(leftOut),
    },
  });
}

function knownEnvelope(source: EvidenceSource, timeZone: string): Envelope {
  const since = localMinute(fromInstant(source.ingested_at), timeZone);
  return done(
    "evidence_known",
    `The same text is kept as evidence since ${since}: “${source.title}” (${shortId(source.id)}), from ${source.path}.`,
    { next: "Nothing was changed.", data: { canonical: false, source: sourceRow(source, timeZone) } },
  );
}

function deniedEnvelope(leftOut: readonly LeftOutPiece[]): Envelope {
  const [rule] = rulesOf(leftOut).keys();
  return refused("memory_policy_denied", `not kept: no passage passes the policy: ${reasons(leftOut)}`, {
    next: "Take the values out of a copy, and give that one. Nothing was stored.",
    data: { rule, leftOut: placesOf(leftOut) },
  });
}

/** E.g. `the text holds a payment card number (card_number), twice`. */
function reasons(leftOut: readonly LeftOutPiece[]): string {
  return [...rulesOf(leftOut)]
    .map(([rule, times]) => `${POLICY_RULES[rule]} (${rule}${times === 1 ? "" : `, ${times} times`})`)
    .join("; ");
}

function rulesOf(leftOut: readonly LeftOutPiece[]): Map<PolicyRule, number> {
  const rules = new Map<PolicyRule, number>();
  for (const { rule } of leftOut) rules.set(rule, (rules.get(rule) ?? 0) + 1);
  return rules;
}

function placesOf(leftOut: readonly LeftOutPiece[]) {
  return leftOut.slice(0, MAX_PLACES).map(({ rule, page, lines }) => ({ rule, page, lines }));
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}
