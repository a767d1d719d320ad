/** PostgreSQL's part of an erasure: tables are written anew; its log is beyond our reach. */
import { escapeIdentifier, type Pool } from "pg";
import { withServer } from "#memory/stores/postgres/postgres-errors.ts";
import { storeTables } from "#memory/stores/postgres/store-tables.ts";
import { isLilyError } from "#src/kernel/errors.ts";
import type { ScrubReport, StorageErasure } from "../backend.ts";

export interface PostgresErasureOptions {
  readonly schema: string;
  /** The server's name in error messages. */
  readonly server: string;
}

const CHECKPOINT_TABLES = ["checkpoints", "checkpoint_blobs", "checkpoint_writes"];

/** Longest wait for whoever uses a table. */
const LOCK_TIMEOUT_MS = 3_000;

const LOG_KEEPS =
  "PostgreSQL's write-ahead log, its archives, replicas and freed pages of its catalog hold what was deleted until they are recycled; that is the server's to set";

export function createPostgresErasure(
  pool: Pool,
  { schema, server }: PostgresErasureOptions,
): Omit<StorageErasure, "forgetLocks"> {
  const { items, namespaces, vectors } = storeTables(schema);
  const checkpoints = CHECKPOINT_TABLES.map((name) => `${escapeIdentifier(schema)}.${name}`);
  const tables = [items, namespaces, vectors, ...checkpoints];
  return {
    logKeeps: LOG_KEEPS,
    async scrub(): Promise<ScrubReport> {
      try {
        await withServer(server, () => writeAnew(pool, tables));
        return { outcome: "done", files: tables.length };
      } catch (error) {
        if (!isLilyError(error)) throw error;
        return {
          outcome: "unfinished",
          why: `what was deleted may still stand in the tables: ${error.message}`,
        };
      }
    },
  };
}

/**
 * A plain VACUUM leaves the bytes of deleted rows in their pages until these are used again; and what the planner has sampled
 * of a table, whole values among it, stays until the table is analysed anew.
 */
async function writeAnew(pool: Pool, tables: readonly string[]): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query(`SET lock_timeout = ${LOCK_TIMEOUT_MS}`);
    for (const table of tables) await client.query(`VACUUM (FULL, ANALYZE) ${table}`);
  } finally {
    // Ended, so that nobody is given a connection with this timeout.
    client.release(true);
  }
}
