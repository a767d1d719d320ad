/** Prunes the tables of the checkpointer: what is older than the runs to keep goes, in small transactions. */
import { setImmediate as nextTick } from "node:timers/promises";
import type { Database, Statement } from "better-sqlite3";
import type { CheckpointRetention } from "../backend.ts";
import { retryBusy } from "#memory/stores/sqlite/retry-busy.ts";

/** Rows a transaction deletes: a few milliseconds, so that a turn on another thread does not wait. */
const ROWS_PER_TRANSACTION = 200;

// Of a run that has ended one checkpoint is left (see buffered-saver.ts). Subgraphs have checkpoints too, so only the root
// namespace counts.
const OLDEST_KEPT = `
  SELECT checkpoint_id FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ''
  ORDER BY checkpoint_id DESC LIMIT 1 OFFSET ?`;

// Ids sort by time. The newest checkpoint of a namespace that outlives its run is kept: see checkpoint-namespace.ts.
const deleteOlder = (table: "checkpoints" | "writes"): string => `
  DELETE FROM ${table} WHERE rowid IN (
    SELECT old.rowid FROM ${table} AS old
    WHERE old.thread_id = @threadId AND old.checkpoint_id < @oldest AND (
      instr(old.checkpoint_ns, ':') > 0 OR old.checkpoint_id < (
        SELECT max(newest.checkpoint_id) FROM checkpoints AS newest
        WHERE newest.thread_id = old.thread_id AND newest.checkpoint_ns = old.checkpoint_ns))
    LIMIT ${ROWS_PER_TRANSACTION})`;

interface Cut {
  readonly threadId: string;
  readonly oldest: string;
}

/**
 * Makes the retention of the checkpoints in `db`, whose tables exist. Writes go before the checkpoints they belong to,
 * so that a crash in between leaves nothing that a later call does not find.
 *
 * Not for graphs with LangGraph's (beta) delta channels: they read values out of any ancestor.
 */
export function createSqliteRetention(db: Database): CheckpointRetention {
  const findOldest = db.prepare<[string, number], string>(OLDEST_KEPT).pluck();
  const deleteWrites = db.prepare<Cut>(deleteOlder("writes"));
  const deleteCheckpoints = db.prepare<Cut>(deleteOlder("checkpoints"));
  return {
    async prune(threadId, keepTurns) {
      const file = db.name;
      const oldest = await retryBusy(() => findOldest.get(threadId, Math.max(1, keepTurns) - 1), { file });
      if (oldest === undefined) return { deletedCheckpoints: 0 };
      await deleteAll(deleteWrites, { threadId, oldest }, file);
      return { deletedCheckpoints: await deleteAll(deleteCheckpoints, { threadId, oldest }, file) };
    },
  };
}

async function deleteAll(statement: Statement<Cut>, cut: Cut, file: string): Promise<number> {
  for (let deleted = 0; ; await nextTick()) {
    // One statement is one transaction.
    const { changes } = await retryBusy(() => statement.run(cut), { file });
    deleted += changes;
    if (changes < ROWS_PER_TRANSACTION) return deleted;
  }
}
