/** Remembered facts as commands meet them: the one that a person means by an id, and facts as data and as a table. */
import { fromInstant, localTime } from "#src/kernel/clock.ts";
import { counted, joined, markdownTable, quoted } from "#src/kernel/markdown.ts";
import { marksAt, RETENTION } from "#memory/facts/retention.ts";
import { shortId, type MemoryRecord } from "#memory/record.ts";
import { refuse, type CommandContext } from "../../command.ts";
import type { MemoryContext } from "./memory-action.ts";

/** The record with that full or short id, in whatever domain and state it is; none (with a `note`) or several are refused. */
export async function findRecord(context: MemoryContext, id: string, note = ""): Promise<MemoryRecord> {
  return (
    theOne(context, await recordsById(context, id), id) ?? refuseUnknown(id, joined([HOW_TO_FIND, note]))
  );
}

/** The record with that full or short id among those that wait for a review; none or several are refused. */
export async function findWaiting(context: MemoryContext, id: string): Promise<MemoryRecord> {
  return theOne(context, await waitingRecords(context, id), id) ?? refuseNotWaiting(id);
}

/** Those that have the id, or begin with it. */
export async function recordsById(
  { memory: { facts, who } }: MemoryContext,
  id: string,
): Promise<readonly MemoryRecord[]> {
  return looksLikeId(id) ? facts.find(who, id) : [];
}

/** Likewise among those that wait for a review. */
export async function waitingRecords(
  { memory: { facts, who } }: MemoryContext,
  id: string,
): Promise<readonly MemoryRecord[]> {
  const waiting = looksLikeId(id) ? await facts.review.list(who) : [];
  return waiting.filter((record) => record.id.startsWith(id.toLowerCase()));
}

/** Whether a text can be a full or short id: at least four characters of a UUID. */
export function looksLikeId(text: string): boolean {
  return /^[0-9a-f]{4}[0-9a-f-]{0,32}$/iu.test(text);
}

/** Facts that a person is shown of many. */
const LISTED = 50;

/** The one record, `undefined` for none; several are refused. */
export function theOne(
  context: MemoryContext,
  records: readonly MemoryRecord[],
  wanted: string,
): MemoryRecord | undefined {
  return records.length > 1 ? refuseAmbiguous(context, records, wanted) : records[0];
}

/** Asks back which one is meant. */
export function refuseAmbiguous(
  context: MemoryContext,
  records: readonly MemoryRecord[],
  wanted: string,
): never {
  const clipped = records.length > LISTED ? `; ${LISTED} are listed` : "";
  return refuse("memory_ambiguous", `${counted(records.length, "fact")} fit ${quoted(wanted)}${clipped}`, {
    next: "Nothing was changed. Say which one by its id.",
    ...recordsShown(records.slice(0, LISTED), context),
  });
}

const HOW_TO_FIND =
  "/memory show lists what is remembered, with its ids; --task <name> looks in that of a task.";

/** Refuses an id, or words, that fit nothing. */
export function refuseUnknown(wanted?: string, next = HOW_TO_FIND): never {
  const what = wanted === undefined ? "that" : quoted(wanted);
  return refuse("memory_not_found", `nothing that is remembered fits ${what}`, { next });
}

/** Refuses an id that nothing which waits for a review has. */
export function refuseNotWaiting(wanted: string): never {
  return refuse("memory_not_found", `nothing that waits for a review has the id ${quoted(wanted)}`, {
    next: "/memory review lists what waits, with its ids.",
  });
}

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
