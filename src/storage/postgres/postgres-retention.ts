/** Prunes the tables of LangGraph's `PostgresSaver`: what is older than the runs to keep goes, in small transactions. */
import { escapeIdentifier, type Pool } from "pg";
import { retryConflicts, withServer } from "#memory/stores/postgres/postgres-errors.ts";
import type { CheckpointRetention } from "../backend.ts";
import { PUT_ORDER } from "./put-order.ts";

/** Rows a transaction deletes: a few milliseconds, so that nothing else waits for long. */
const ROWS_PER_TRANSACTION = 200;

/** Options of {@link createPostgresRetention}. */
export interface PostgresRetentionOptions {
  /** Where the tables are. */
  readonly schema: string;
  /** The server's name in error messages. */
  readonly server: string;
}

function retentionStatements(schema: string) {
  const table = (name: string): string => `${escapeIdentifier(schema)}.${name}`;
  const checkpoints = table("checkpoints");
  const deleteRows = (name: string, where: string): string => `
    DELETE FROM ${table(name)} WHERE ctid = ANY (ARRAY(
      SELECT old.ctid FROM ${table(name)} AS old WHERE old.thread_id = $1 AND ${where}
      LIMIT ${ROWS_PER_TRANSACTION}))`;
  // The newest checkpoint of a namespace that outlives its run is kept: see checkpoint-namespace.ts.
  const isOld = `old.${PUT_ORDER} < $2 AND (
    strpos(old.checkpoint_ns, ':') > 0 OR old.${PUT_ORDER} < (
      SELECT max(newest.${PUT_ORDER}) FROM ${checkpoints} AS newest
      WHERE newest.thread_id = old.thread_id AND newest.checkpoint_ns = old.checkpoint_ns))`;
  return {
    // Of a run that has ended one checkpoint is left (see buffered-saver.ts). Subgraphs have checkpoints too, so only the
    // root namespace counts.
    oldestKept: `SELECT ${PUT_ORDER} AS oldest FROM ${checkpoints}
      WHERE thread_id = $1 AND checkpoint_ns = ''
      ORDER BY ${PUT_ORDER} DESC LIMIT 1 OFFSET $2`,
    deleteCheckpoints: deleteRows("checkpoints", isOld),
    deleteWrites: deleteRows(
      "checkpoint_writes",
      `NOT EXISTS (SELECT FROM ${checkpoints} AS kept
        WHERE kept.thread_id = old.thread_id AND kept.checkpoint_ns = old.checkpoint_ns
          AND kept.checkpoint_id = old.checkpoint_id)`,
    ),
    // The value of a channel is kept once for all checkpoints that have it; no run can come back to it without one.
    deleteBlobs: deleteRows(
      "checkpoint_blobs",
      `NOT EXISTS (SELECT FROM ${checkpoints} AS kept
        WHERE kept.thread_id = old.thread_id AND kept.checkpoint_ns = old.checkpoint_ns
          AND kept.checkpoint -> 'channel_versions' ->> old.channel = old.version)`,
    ),
  };
}

/**
 * Makes the retention of the checkpoints in `pool`, whose tables exist. Writes and values go after the checkpoints they
 * belong to, and what a crash in between leaves is found by the next call.
 *
 * Not for graphs with LangGraph's (beta) delta channels: they read values out of any ancestor.
 */
export function createPostgresRetention(
  pool: Pool,
  { schema, server }: PostgresRetentionOptions,
): CheckpointRetention {
  const statements = retentionStatements(schema);
  const deleteAll = async (sql: string, values: unknown[]): Promise<number> => {
    for (let deleted = 0; ;) {
      // One statement is one transaction.
      const { rowCount } = await retryConflicts(() => pool.query(sql, values));
      deleted += rowCount ?? 0;
      if ((rowCount ?? 0) < ROWS_PER_TRANSACTION) return deleted;
    }
  };
  const prune = async (threadId: string, keepTurns: number): Promise<number> => {
    const skip = Math.max(1, keepTurns) - 1;
    const { rows } = await pool.query<{ oldest: string }>(statements.oldestKept, [threadId, skip]);
    const oldest = rows[0]?.oldest;
    if (oldest === undefined) return 0;
    const deleted = await deleteAll(statements.deleteCheckpoints, [threadId, oldest]);
    await deleteAll(statements.deleteWrites, [threadId]);
    await deleteAll(statements.deleteBlobs, [threadId]);
    return deleted;
  };
  return {
    prune: async (threadId, keepTurns) => ({
      deletedCheckpoints: await withServer(server, () => prune(threadId, keepTurns)),
    }),
  };
}
