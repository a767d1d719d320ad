/** A memory record as envelopes carry it: for tables and for programs. */
import { fromInstant } from "#src/kernel/clock.ts";
import { joined, markdownTable } from "#src/kernel/markdown.ts";
import { localTime } from "#src/sessions/day-boundary.ts";
import { shortId, type MemoryRecord } from "#memory/record.ts";
import { marksAt, RETENTION } from "#memory/facts/retention.ts";
import type { CommandContext } from "../../command.ts";

/** The state of a record in one word; a record may be in several, of which the first counts. */
function stateOf(record: MemoryRecord, nowMs: number): string {
  if (record.review?.state === "pending") return "review";
  if (record.superseded_by !== null) return "superseded";
  if (record.archived) return "archived";
  if (record.expired || (record.expires_at !== null && fromInstant(record.expires_at) <= nowMs))
    return "expired";
  return marksAt(record, nowMs).verification_due ? "verify" : "current";
}

/** When and for whom a row is made. */
type Moment = Pick<CommandContext, "nowMs" | "policy">;

/** One record; times are local to the minute, `provenance` has what the specification asks to be inspectable. */
export function recordRow(record: MemoryRecord, { nowMs, policy }: Moment) {
  const local = (instant: string | null) => (instant === null ? null : localTime(instant, policy.timeZone));
  return {
    id: record.id,
    short: shortId(record.id),
    domain: record.domain,
    text: record.text,
    state: stateOf(record, nowMs),
    saidBy: record.said_by,
    remembered: local(record.created_at),
    updated: local(record.updated_at),
    verified: local(record.last_verified),
    expires: local(record.expires_at),
    task: record.task,
    scope: record.scope,
    provenance: {
      source: record.source,
      confidence: record.confidence,
      sessionId: record.session_id,
      turn: record.turn,
      stability: record.stability,
      conflictGroup: record.conflict_group,
      supersedes: record.supersedes,
      supersededBy: record.superseded_by,
      review: record.review,
    },
  };
}

type RecordRow = ReturnType<typeof recordRow>;

/** Facts as data, and as the table that a person is shown: one a line. */
export function recordsShown(records: readonly MemoryRecord[], moment: Moment) {
  const rows = records.map((record) => recordRow(record, moment));
  const cells = rows.map((row) => [
    row.short,
    row.text,
    row.task === null ? row.domain : `task ${row.task}`,
    sinceText(row),
  ]);
  return { data: { records: rows }, body: markdownTable(["id", "fact", "kind", "since"], cells) };
}

/** When it was remembered, by whom if not by the owner, and what there is to say of its state. */
function sinceText({ remembered, saidBy, state, expires }: RecordRow): string {
  return joined(
    [
      remembered ?? "",
      saidBy === "owner" ? "" : `by ${saidBy}`,
      state === "current" ? "" : (STATES[state] ?? state),
      expires === null || state === "expired" ? "" : `until ${expires}`,
    ],
    ", ",
  );
}

/** States by the words that the messages use for them. */
const STATES: Readonly<Record<string, string>> = { verify: "to confirm", superseded: "replaced" };

const DAY_MS = 86_400_000;

/** `2 of these were last confirmed over 180 days ago: /memory verify <id> confirms one.`; `""` when none is due. */
export function dueText(records: readonly MemoryRecord[], nowMs: number): string {
  const counts = new Map<number, number>();
  for (const record of records.filter((one) => marksAt(one, nowMs).verification_due)) {
    const days = (RETENTION[record.domain].verifyAfterMs ?? 0) / DAY_MS;
    counts.set(days, (counts.get(days) ?? 0) + 1);
  }
  if (counts.size === 0) return "";
  const parts = [...counts]
    .sort(([a], [b]) => a - b)
    .map(
      ([days, count]) =>
        `${count} of these ${count === 1 ? "was" : "were"} last confirmed over ${days} days ago`,
    );
  return `${parts.join(", ")}: /memory verify <id> confirms one.`;
}

/** Facts by their words and short ids: `“I like tea” (1a2b3c4d) and “I like rye” (5e6f7a8b)`. */
export function factNames(records: readonly MemoryRecord[]): string {
  return records.map(({ id, text }) => `“${text}” (${shortId(id)})`).join(" and ");
}
