/** What the lifecycle job marks on a record, and which records hold now, also when a crash left out the mark on one that was replaced. */
import type { MemoryRecord } from "../record.ts";
import { fromInstant } from "#src/kernel/clock.ts";
import { RETENTION } from "./retention-defaults.ts";

/** The state that decides whether a record is read. */
export type RecordState = "current" | "expired" | "archived" | "superseded";

/** The marks of a record. */
export type Marks = Pick<MemoryRecord, "expired" | "archived" | "verification_due">;

/** State of a record at `nowMs`. Expiry is an instant: at it the fact no longer holds, whether a job has marked it or not. */
export function stateOf(record: MemoryRecord, nowMs: number): RecordState {
  if (record.superseded_by !== null) return "superseded";
  if (record.archived) return "archived";
  return isExpired(record, nowMs) ? "expired" : "current";
}

function isExpired({ expires_at }: MemoryRecord, nowMs: number): boolean {
  return expires_at !== null && nowMs >= fromInstant(expires_at);
}

/** The marks that `record` ought to have at `nowMs`. Archiving is one-way here: only a person takes it back. */
export function marksAt(record: MemoryRecord, nowMs: number): Marks {
  const { verifyAfterMs, archiveAfterExpiryMs } = RETENTION[record.domain];
  const expired = isExpired(record, nowMs);
  const sinceExpiry = record.expires_at === null ? 0 : nowMs - fromInstant(record.expires_at);
  const archived =
    record.archived || (expired && archiveAfterExpiryMs !== null && sinceExpiry >= archiveAfterExpiryMs);
  const confirmedAt = fromInstant(record.last_verified ?? record.created_at);
  const isDue = verifyAfterMs !== null && nowMs - confirmedAt >= verifyAfterMs;
  const isRead = !expired && !archived && record.superseded_by === null;
  return { expired, archived, verification_due: isDue && isRead };
}

/** Whether two sets of marks are the same. */
export function haveSameMarks(a: Marks, b: Marks): boolean {
  return a.expired === b.expired && a.archived === b.archived && a.verification_due === b.verification_due;
}

/** A record with its state. */
export interface RecordWithState {
  readonly record: MemoryRecord;
  readonly state: RecordState;
}

/**
 * The state of each record at `nowMs`, in their order. A record without a mark counts as superseded when a current one
 * that was written later names it: the later one is put first, and its put decides.
 */
export function statesOf(records: readonly MemoryRecord[], nowMs: number): RecordWithState[] {
  const settled = records.map((record) => ({ record, state: stateOf(record, nowMs) }));
  const replacedAt = new Map<string, string>();
  for (const { record, state } of settled) {
    if (state !== "current") continue;
    for (const id of record.supersedes) {
      const at = replacedAt.get(id);
      if (at === undefined || at < record.updated_at) replacedAt.set(id, record.updated_at);
    }
  }
  return settled.map(({ record, state }) => {
    const at = replacedAt.get(record.id);
    return {
      record,
      state: state === "current" && at !== undefined && at > record.updated_at ? "superseded" : state,
    };
  });
}

/** Those of `records` that hold at `nowMs`. */
export function currentOf(records: readonly MemoryRecord[], nowMs: number): MemoryRecord[] {
  return statesOf(records, nowMs).flatMap(({ record, state }) => (state === "current" ? [record] : []));
}
