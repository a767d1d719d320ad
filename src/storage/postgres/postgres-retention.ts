/** Prunes the tables of LangGraph's `PostgresSaver`: what is older than the runs to keep goes, in small transactions. */
import { escapeIdentifier, type Pool } from "pg";
import { retryConflicts, withServer } from "#memory/stores/postgres/postgres-errors.ts";
import type { CheckpointRetention } from "../backend.ts";

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
  // Ids sort by time. The newest checkpoint of a namespace that outlives its run is kept: see checkpoint-namespace.ts.
  const isOld = `old.checkpoint_id < $2 AND (
    strpos(old.checkpoint_ns, ':') > 0 OR old.checkpoint_id < (
      SELECT max(newest.checkpoint_id) FROM ${checkpoints} AS newest
      WHERE newest.thread_id = old.thread_id AND newest.checkpoint_ns = old.checkpoint_ns))`;
  return {
    // Of a run that has ended one checkpoint is left (see buffered-saver.ts). Subgraphs have checkpoints too, so only the
    // root namespace counts.
    oldestKept: `SELECT checkpoint_id FROM ${checkpoints}
      WHERE thread_id = $1 AND checkpoint_ns = ''
      ORDER BY checkpoint_id DESC LIMIT 1 OFFSET $2`,
    deleteWrites: deleteRows("checkpoint_writes", isOld),
    deleteCheckpoints: deleteRows("checkpoints", isOld),
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
 * Makes the retention of the checkpoints in `pool`, whose tables exist. Writes go before the checkpoints they belong to
 * and values after them, so that a crash in between leaves nothing that a later call does not find.
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
    const { rows } = await pool.query<{ checkpoint_id: string }>(statements.oldestKept, [threadId, skip]);
    const oldest = rows[0]?.checkpoint_id;
    if (oldest === undefined) return 0;
    await deleteAll(statements.deleteWrites, [threadId, oldest]);
    const deleted = await deleteAll(statements.deleteCheckpoints, [threadId, oldest]);
    await deleteAll(statements.deleteBlobs, [threadId]);
    return deleted;
  };
  return {
    prune: async (threadId, keepTurns) => ({
      deletedCheckpoints: await withServer(server, () => prune(threadId, keepTurns)),
    }),
  };
}
