/** A lock by name for all processes that share a database: leases that run out, with tokens that fence writes. */
import { createHash } from "node:crypto";
import type { Pool } from "pg";
import type { PostgresDatabase, Queryable } from "#memory/stores/postgres/postgres-database.ts";
import type { Clock } from "#src/kernel/clock.ts";
import type { KeyLock, LeaseRef } from "../backend.ts";
import { assertNewest, Leases } from "../key-lock.ts";

/** No row has this name, which is no JSON: its token is the highest that a forgotten lock had, from which new ones go on. */
const FORGOTTEN = "highest-removed-token";

const LONGEST_ROW_BYTES = 1_000;

/** Makes the table of leases. A row stays when its lease ends, so that tokens only grow. */
export async function setUpLeases(database: PostgresDatabase): Promise<void> {
  const leases = `${database.schema}.lily_leases`;
  // Tables of earlier versions lack `pid`.
  await database.query(`CREATE TABLE IF NOT EXISTS ${leases} (
    lock_name text COLLATE "C" PRIMARY KEY, token bigint NOT NULL, expires_at timestamptz NOT NULL);
    ALTER TABLE ${leases} ADD COLUMN IF NOT EXISTS pid integer`);
}

/** Times are the server's, so that hosts need not agree on the time; `pid` is that of the holder's own connection. */
function leaseStatements(leases: string) {
  const until = (parameter: string): string =>
    `clock_timestamp() + ${parameter}::float8 * interval '1 millisecond'`;
  const isFree = `(lease.expires_at < clock_timestamp() OR lease.pid <> ALL (SELECT pid FROM pg_stat_activity))`;
  return {
    /** row, milliseconds, pid. @returns the token, or no row when somebody has the lock. Waits for a write under the lease before. */
    grant: `INSERT INTO ${leases} AS lease (lock_name, token, expires_at, pid)
      SELECT $1, 1 + coalesce((SELECT token FROM ${leases} WHERE lock_name = '${FORGOTTEN}'), 0), ${until("$2")}, $3
      ON CONFLICT (lock_name) DO UPDATE SET token = lease.token + 1, expires_at = excluded.expires_at, pid = excluded.pid
      WHERE ${isFree} RETURNING token::float8 AS token`,
    /** row, token, milliseconds, pid */
    renew: `UPDATE ${leases} SET expires_at = ${until("$3")}, pid = $4 WHERE lock_name = $1 AND token = $2`,
    /** row, token */
    release: `UPDATE ${leases} SET expires_at = '-infinity' WHERE lock_name = $1 AND token = $2`,
    /** row */
    holder: `SELECT token::float8 AS token FROM ${leases} AS lease WHERE lock_name = $1 AND NOT coalesce(${isFree}, false)`,
    /** row; keeps a newer grant waiting until the transaction is over */
    newest: `SELECT token::float8 AS token FROM ${leases} WHERE lock_name = $1 FOR SHARE`,
    /** beginning of rows */
    forget: `WITH gone AS (DELETE FROM ${leases} AS lease WHERE starts_with(lock_name, $1) AND ${isFree} RETURNING token),
      kept AS (INSERT INTO ${leases} AS kept (lock_name, token, expires_at)
        SELECT '${FORGOTTEN}', max(token), '-infinity' FROM gone HAVING count(*) > 0
        ON CONFLICT (lock_name) DO UPDATE SET token = greatest(kept.token, excluded.token))
      SELECT token FROM gone`,
  };
}

/** The lock; its table exists. Leases can be checked inside a transaction. */
export class PostgresKeyLock implements KeyLock {
  readonly acquire: KeyLock["acquire"];
  /** Gives back every lease that is still held. Idempotent. */
  readonly close: () => Promise<void>;
  readonly #database: PostgresDatabase;
  readonly #sql: ReturnType<typeof leaseStatements>;

  /**
   * @param alive keeps one connection open for as long as this process lives, however it ends; then its leases end at once
   * @param options how long a lease lasts without renewal, in milliseconds
   */
  constructor(
    database: PostgresDatabase,
    alive: Pool,
    { clock, leaseMs = 30_000 }: { readonly clock: Clock; readonly leaseMs?: number | undefined },
  ) {
    const sql = leaseStatements(`${database.schema}.lily_leases`);
    /** Of the connection that is kept; another one when it was lost. */
    const pidOf = async (): Promise<number | undefined> => {
      const ask = () => alive.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
      // That it was lost may come out only when it is used: the next one is another.
      return (await database.run(() => ask().catch(ask))).rows[0]?.pid;
    };
    const leases = new Leases({
      clock,
      leaseMs,
      grant: async (lockName) => tokenBy(database, sql.grant, [rowOf(lockName), leaseMs, await pidOf()]),
      renew: async ({ lockName, token }) => {
        const values = [rowOf(lockName), token, leaseMs, await pidOf()];
        return (await database.query(sql.renew, values)).rowCount === 1;
      },
      release: ({ lockName, token }) => database.query(sql.release, [rowOf(lockName), token]),
    });
    this.acquire = leases.acquire;
    this.close = () => leases.releaseAll();
    this.#database = database;
    this.#sql = sql;
  }

  async holder(lockName: string): Promise<LeaseRef | undefined> {
    const token = await tokenBy(this.#database, this.#sql.holder, [rowOf(lockName)]);
    return token === undefined ? undefined : { lockName, token };
  }

  /** Keeps newer grants waiting until the transaction of `client` is over. @throws {LilyError} `lease_lost` unless newest */
  async assertHeld(client: Queryable, ref: LeaseRef): Promise<void> {
    assertNewest(ref, await tokenBy(client, this.#sql.newest, [rowOf(ref.lockName)]));
  }

  /** Forgets the locks whose names begin with `prefix` and that nobody holds; how many. */
  async forget(prefix: string): Promise<number> {
    // The row of a name that begins with `prefix` begins with this.
    const begin = JSON.stringify(prefix).slice(0, -1);
    return (await this.#database.query(this.#sql.forget, [begin])).rows.length;
  }
}

/** The token in the first row; `undefined` without rows. */
async function tokenBy(client: Queryable, sql: string, values: unknown[]): Promise<number | undefined> {
  return (await client.query<{ token: number }>(sql, values)).rows[0]?.token;
}

/** Different for different names, without NUL or halves of surrogate pairs, and short enough for an index. */
function rowOf(lockName: string): string {
  const text = JSON.stringify(lockName);
  const isLong = Buffer.byteLength(text) > LONGEST_ROW_BYTES;
  return isLong ? `sha256:${createHash("sha256").update(text).digest("hex")}` : text;
}
