/** Prunes the tables of the checkpointer: what is older than the runs to keep goes, in small transactions. */
import { setImmediate as nextTick } from "node:timers/promises";
import type { Database, RunResult } from "better-sqlite3";
import type { CheckpointRetention } from "../backend.ts";
import { preparedOnUse } from "#memory/stores/sqlite/prepared-on-use.ts";
import { retryBusy } from "#memory/stores/sqlite/retry-busy.ts";

/** Rows a transaction deletes: a few milliseconds, so that a turn on another thread does not wait. */
const ROWS_PER_TRANSACTION = 200;

// Of a run that has ended one checkpoint is left (see buffered-saver.ts). Subgraphs have checkpoints too, so only the root
// namespace counts.
const OLDEST_KEPT = `
  SELECT rowid FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ''
  ORDER BY rowid DESC LIMIT 1 OFFSET ?`;

// By the order in which they were put; ids go by a clock, which may be set back. The newest checkpoint of a namespace that
// outlives its run is kept (that of a subgraph that remembers).
const DELETE_CHECKPOINTS = `
  DELETE FROM checkpoints WHERE rowid IN (
    SELECT old.rowid FROM checkpoints AS old
    WHERE old.thread_id = @threadId AND old.rowid < @oldest AND (
      instr(old.checkpoint_ns, ':') > 0 OR old.rowid < (
        SELECT max(newest.rowid) FROM checkpoints AS newest
        WHERE newest.thread_id = old.thread_id AND newest.checkpoint_ns = old.checkpoint_ns))
    LIMIT ${ROWS_PER_TRANSACTION})`;

const DELETE_WRITES = `
  DELETE FROM writes WHERE rowid IN (
    SELECT old.rowid FROM writes AS old WHERE old.thread_id = @threadId AND NOT EXISTS (
      SELECT 1 FROM checkpoints AS kept
      WHERE kept.thread_id = old.thread_id AND kept.checkpoint_ns = old.checkpoint_ns
        AND kept.checkpoint_id = old.checkpoint_id)
    LIMIT ${ROWS_PER_TRANSACTION})`;

interface Cut {
  readonly threadId: string;
  /** Row of the oldest checkpoint that is kept. */
  readonly oldest: number;
}

/**
 * Makes the retention of the checkpoints in `db`, whose tables exist. Writes go after the checkpoints they belong to,
 * and what a crash in between leaves is found by the next call.
 *
 * Not for graphs with LangGraph's (beta) delta channels: they read values out of any ancestor.
 */
export function createSqliteRetention(db: Database): CheckpointRetention {
  const statements = preparedOnUse({
    findOldest: () => db.prepare<[string, number], number>(OLDEST_KEPT).pluck(),
    deleteWrites: () => db.prepare<Cut>(DELETE_WRITES),
    deleteCheckpoints: () => db.prepare<Cut>(DELETE_CHECKPOINTS),
  });
  return {
    async prune(threadId, keepTurns) {
      const file = db.name;
      const offset = Math.max(1, keepTurns) - 1;
      const oldest = await retryBusy(() => statements.findOldest.get(threadId, offset), { file });
      if (oldest === undefined) return { deletedCheckpoints: 0 };
      const cut = { threadId, oldest };
      const deletedCheckpoints = await deleteAll(() => statements.deleteCheckpoints.run(cut), file);
      await deleteAll(() => statements.deleteWrites.run(cut), file);
      return { deletedCheckpoints };
    },
  };
}

async function deleteAll(deleteSome: () => RunResult, file: string): Promise<number> {
  for (let deleted = 0; ; await nextTick()) {
    // One statement is one transaction.
    const { changes } = await retryBusy(deleteSome, { file });
    deleted += changes;
    if (changes < ROWS_PER_TRANSACTION) return deleted;
  }
}
