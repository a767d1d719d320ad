/** Folds records into what holds now, also when a crash left out the mark on a record that was replaced. */
import type { MemoryRecord } from "../record.ts";
import { stateOf, type RecordState } from "../retention/lifecycle.ts";

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
