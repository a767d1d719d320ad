/** PostgreSQL's part of an erasure: tables are written anew; its log is beyond our reach. */
import { escapeIdentifier, type Pool } from "pg";
import { withServer } from "#memory/stores/postgres/postgres-errors.ts";
import { storeTables } from "#memory/stores/postgres/store-schema.ts";
import { isLilyError } from "#src/kernel/errors.ts";
import type { KeyLock, ScrubReport, StorageErasure } from "../backend.ts";
import { leaseStatements } from "./lease-statements.ts";

/** Options of {@link createPostgresErasure}. */
export interface PostgresErasureOptions {
  readonly schema: string;
  /** The server's name in error messages. */
  readonly server: string;
  readonly locks: Pick<KeyLock, "holder">;
}

const CHECKPOINT_TABLES = ["checkpoints", "checkpoint_blobs", "checkpoint_writes"];

/** Longest wait for whoever uses a table. */
const LOCK_TIMEOUT_MS = 3_000;

const LOG_KEEPS =
  "PostgreSQL's write-ahead log, its archives, replicas and freed pages of its catalog hold what was deleted until they are recycled; that is the server's to set";

/** Makes it. */
export function createPostgresErasure(pool: Pool, options: PostgresErasureOptions): StorageErasure {
  const { schema, server } = options;
  const { items, namespaces } = storeTables(schema);
  const tables = [
    items,
    namespaces,
    ...CHECKPOINT_TABLES.map((name) => `${escapeIdentifier(schema)}.${name}`),
  ];
  return {
    logKeeps: LOG_KEEPS,
    scrub: () => scrub(pool, { tables, server }),
    forgetLocks: (prefix) => withServer(server, () => forgetLocks(pool, prefix, options)),
  };
}

/**
 * A plain VACUUM leaves the bytes of deleted rows in their pages until these are used again; and what the planner has sampled
 * of a table, whole values among it, stays until the table is analysed anew.
 */
async function scrub(
  pool: Pool,
  { tables, server }: { readonly tables: readonly string[]; readonly server: string },
): Promise<ScrubReport> {
  try {
    await withServer(server, async () => {
      const client = await pool.connect();
      try {
        await client.query(`SET lock_timeout = ${LOCK_TIMEOUT_MS}`);
        for (const table of tables) await client.query(`VACUUM (FULL, ANALYZE) ${table}`);
        await client.query("RESET lock_timeout");
        client.release();
      } catch (error) {
        // Ended, so that nobody is given a connection with this timeout.
        client.release(true);
        throw error;
      }
    });
    return { outcome: "done", files: tables.length };
  } catch (error) {
    if (!isLilyError(error)) throw error;
    return { outcome: "unfinished", why: `what was deleted may still stand in the tables: ${error.message}` };
  }
}

async function forgetLocks(
  pool: Pool,
  prefix: string,
  { schema, locks }: PostgresErasureOptions,
): Promise<number> {
  const { under, forget } = leaseStatements(schema);
  // Rows are JSON texts; that of a name that begins with `prefix` begins with this.
  const { rows } = await pool.query<{ row: string; token: number }>(under, [
    JSON.stringify(prefix).slice(0, -1),
  ]);
  let forgotten = 0;
  for (const { row, token } of rows) {
    if ((await locks.holder(String(JSON.parse(row)))) !== undefined) continue;
    forgotten += (await pool.query(forget, [row, token])).rowCount ?? 0;
  }
  return forgotten;
}
