/** Where a remembered fact comes from, in words. */
import { localTime } from "#src/sessions/day-boundary.ts";
import { shortId, type MemoryRecord } from "#memory/record.ts";
import { stateOf } from "#memory/facts/read.ts";
import { quoted } from "#src/kernel/markdown.ts";
import type { Telling } from "./reason.ts";

/** By whose word and when: `you asked to keep it in turn 3 of session 1 (2026-03-01 09:00)`. */
export function originText(record: MemoryRecord, { nameOf, timeZone }: Telling): string {
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
export function stateText(record: MemoryRecord, { nowMs, timeZone }: Telling): string {
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
export function factsText(records: readonly MemoryRecord[]): string {
  return records.map(({ id, text }) => `${quoted(text)} (${shortId(id)})`).join("; ");
}

/** A fact that a model was given, on one line. */
export function givenText(record: MemoryRecord, telling: Telling): string {
  const task = record.task === null ? "" : `; of the task ${quoted(record.task)}`;
  const state = stateOf(record, telling.nowMs) === "current" ? "" : `; now ${stateText(record, telling)}`;
  const { confidence, text } = record;
  return `${quoted(text)}: ${originText(record, telling)}; confidence ${confidence}, ${confirmedText(record, telling)}${task}${state}`;
}
