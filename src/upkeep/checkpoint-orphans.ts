/** Finds checkpoints and writes that no conversation can ever read again. */
import type { Database } from "better-sqlite3";
import { hasTable } from "./lease-rows.ts";

/** What is left over in a checkpoint file. */
export interface CheckpointOrphans {
  /** Threads that are no session, with their number of checkpoints. */
  readonly threads: readonly { readonly threadId: string; readonly checkpoints: number }[];
  /** Writes whose checkpoint is gone. */
  readonly writes: number;
}

/** What orphans are told by. */
export interface OrphanFacts {
  /** Whether a thread is a session that the store knows. */
  readonly isSession: (threadId: string) => boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** A run writes its first checkpoint before its session is known, and may write before its checkpoint: it gets this long. */
const YOUNG_MS = 60 * 60 * 1000;

/** Writes without their checkpoint, by row. */
export const ORPHAN_WRITES = `
  FROM writes AS w WHERE w.checkpoint_id < @before AND NOT EXISTS (
    SELECT 1 FROM checkpoints AS c WHERE c.thread_id = w.thread_id
      AND c.checkpoint_ns = w.checkpoint_ns AND c.checkpoint_id = w.checkpoint_id)`;

const THREADS = `
  SELECT thread_id AS threadId, max(checkpoint_id) AS newest, count(*) AS checkpoints
  FROM checkpoints GROUP BY thread_id ORDER BY thread_id`;

interface ThreadRow {
  readonly threadId: string;
  readonly newest: string;
  readonly checkpoints: number;
}

/** Finds what is left over in `db`. Reads only. */
export function findOrphans(db: Database, { isSession, now }: OrphanFacts): CheckpointOrphans {
  if (!hasTable(db, "checkpoints") || !hasTable(db, "writes")) return { threads: [], writes: 0 };
  const before = oldBefore(now);
  const threads = db
    .prepare<[], ThreadRow>(THREADS)
    .all()
    .filter(({ threadId, newest }) => newest < before && !isSession(threadId))
    .map(({ threadId, checkpoints }) => ({ threadId, checkpoints }));
  const writes = db
    .prepare<{ before: string }, number>(`SELECT count(*) ${ORPHAN_WRITES}`)
    .pluck()
    .get({ before });
  return { threads, writes: writes ?? 0 };
}

/** 100 ns steps from the beginning of the Gregorian calendar, from which UUIDs count, to the Unix epoch. */
const GREGORIAN_STEPS = 0x01b21dd213814000n;
const STEPS_PER_MS = 10_000n;

/** The first id that a checkpoint could have had an hour ago: LangGraph's ids are UUIDs of version 6 and sort by time. */
export function oldBefore(now: number): string {
  const steps = BigInt(Math.trunc(now - YOUNG_MS)) * STEPS_PER_MS + GREGORIAN_STEPS;
  const hex = steps.toString(16).padStart(15, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-6${hex.slice(12)}`;
}
