/** Explains a remembered fact: who said it where, why it is in its domain, and what it stands beside. */
import { fromInstant, localMinute, localTime } from "#src/kernel/clock.ts";
import { aboutOf } from "#memory/facts/about.ts";
import { decideDomain } from "#memory/facts/new-record.ts";
import { type MemoryRecord, shortId } from "#memory/record.ts";
import { RETENTION } from "#memory/facts/retention.ts";
import { joined, quoted } from "#src/kernel/markdown.ts";
import { type Reason, reasonsOf, type Telling } from "./reason.ts";
import { stateOf } from "#memory/facts/read.ts";

/** What belongs to a fact beside its record. */
export interface FactSurroundings {
  /** What was said in the turn it comes from, or why that cannot be shown; `undefined` when there is no such turn. */
  readonly words: string | undefined;
  /** Facts that it replaced, as far as there still are, and how many there were. */
  readonly replaced: readonly MemoryRecord[];
  readonly replacedBy: MemoryRecord | undefined;
  /** Facts that hold beside it and are about the same. */
  readonly conflicts: readonly MemoryRecord[];
}

/** The fact in one sentence. */
export function factHeadline({ id, text }: MemoryRecord): string {
  return `${shortId(id)}: ${quoted(text)}`;
}

/** Its reasons. */
export function explainFact(record: MemoryRecord, around: FactSurroundings, telling: Telling): Reason[] {
  const { replacedBy } = around;
  return reasonsOf(
    ["state", stateText(record, telling)],
    ["from", originText(record, telling)],
    ["words", around.words],
    ["kind", kindText(record)],
    ["holds for", record.scope === "global" ? undefined : record.scope],
    ["confidence", `${record.confidence}, stability ${record.stability.replaceAll("_", "-")}`],
    ["confirmed", verificationText(record, telling)],
    ["about", aboutText(record)],
    ["replaced", replacedText(record, around)],
    ["replaced by", replacedByText(record, replacedBy)],
    ["beside", factsText(around.conflicts)],
    ["review", reviewText(record, telling)],
  );
}

/** The table decides by the text alone; what it does not say was named, or decided by an earlier version. */
function kindText({ domain, task, text }: MemoryRecord): string {
  if (task !== null) return `${domain}, of the task ${quoted(task)}, which was named with it`;
  const decided = decideDomain(text);
  if (decided.domain !== domain) return `${domain}, which was named with it or chosen by an earlier version`;
  const rule =
    decided.rule === "default"
      ? "it begins like nothing in the table, so it is about you and your life"
      : `it begins with ${quoted(decided.rule)}`;
  return `${domain} (${rule})`;
}

const DAY_MS = 86_400_000;

function verificationText(record: MemoryRecord, telling: Telling): string {
  const { verifyAfterMs } = RETENTION[record.domain];
  const since = record.last_verified;
  const last = since === null ? "not since it was said" : localTime(since, telling.timeZone);
  if (stateOf(record, telling.nowMs) !== "current") return last;
  if (verifyAfterMs === null) return `${last}; nothing asks for it again`;
  const dueMs = fromInstant(record.last_verified ?? record.created_at) + verifyAfterMs;
  const due =
    dueMs <= telling.nowMs
      ? `due since ${localMinute(dueMs, telling.timeZone)}`
      : `due on ${localMinute(dueMs, telling.timeZone)}`;
  return `${last}; ${due} (${verifyAfterMs / DAY_MS} days)`;
}

function aboutText(record: MemoryRecord): string | undefined {
  const about = aboutOf(record);
  return about === null ? undefined : `${about}: what you say later about the same takes its place`;
}

function replacedText({ supersedes }: MemoryRecord, { replaced }: FactSurroundings): string {
  const gone = supersedes.length - replaced.length;
  const more = gone === 0 ? "" : `${gone} more, which ${gone === 1 ? "is" : "are"} not there any more`;
  return joined([factsText(replaced), more], "; ");
}

function replacedByText({ superseded_by }: MemoryRecord, by: MemoryRecord | undefined): string | undefined {
  if (superseded_by === null) return undefined;
  return by === undefined ? "a fact that was forgotten since" : factsText([by]);
}

function reviewText({ review }: MemoryRecord, { timeZone }: Telling): string | undefined {
  if (review === null) return undefined;
  const when = localTime(review.at, timeZone);
  return review.state === "pending"
    ? `waits for one since ${when} (rule ${review.rule}); it was never given to a model`
    : `put aside by the rule ${review.rule}; you accepted it`;
}

/** By whose word and when: `you asked to keep it in turn 3 of session 1 (2026-03-01 09:00)`. */
function originText(record: MemoryRecord, { nameOf, timeZone }: Telling): string {
  const { session_id, turn, created_at } = record;
  const when = localTime(created_at, timeZone);
  const where =
    session_id === null ? "" : ` in ${turn === null ? "" : `turn ${turn} of `}${nameOf(session_id)}`;
  return `${saidText(record)}${where} (${when})`;
}

function saidText({ said_by, source }: MemoryRecord): string {
  switch (said_by) {
    case "owner":
      return source === "command" ? "you asked to keep it" : "gathered from what you said";
    case "assistant":
      return "noted by the assistant";
    case "tool":
      return "noted by a tool";
    case "import":
      return "read from an imported file, said";
  }
}

/** Whether it holds, and why not where it does not. */
function stateText(record: MemoryRecord, { nowMs, timeZone }: Telling): string {
  const expires = record.expires_at;
  const local = (instant: string): string => localTime(instant, timeZone);
  if (record.review?.state === "pending") return `put aside for a review (rule ${record.review.rule})`;
  switch (stateOf(record, nowMs)) {
    case "superseded":
      return "replaced by what was said later";
    case "archived":
      return "archived: kept, and not read any more";
    case "expired":
      return `expired${expires === null ? "" : ` on ${local(expires)}`}: kept, and not read any more`;
    case "current":
      return expires === null ? "holds" : `holds until ${local(expires)}`;
  }
}

/** When its owner last said or confirmed it. */
function confirmedText({ last_verified }: MemoryRecord, { timeZone }: Telling): string {
  if (last_verified === null) return "not confirmed since";
  return `confirmed ${localTime(last_verified, timeZone)}`;
}

/** Other facts, each with its id. */
function factsText(records: readonly MemoryRecord[]): string {
  return records.map(({ id, text }) => `${quoted(text)} (${shortId(id)})`).join("; ");
}

/** A fact that a model was given, on one line. */
export function givenText(record: MemoryRecord, telling: Telling): string {
  const task = record.task === null ? "" : `; of the task ${quoted(record.task)}`;
  const state = stateOf(record, telling.nowMs) === "current" ? "" : `; now ${stateText(record, telling)}`;
  const { confidence, text } = record;
  return `${quoted(text)}: ${originText(record, telling)}; confidence ${confidence}, ${confirmedText(record, telling)}${task}${state}`;
}
