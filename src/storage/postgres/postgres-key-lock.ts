/** A lock by name for all processes that share a database: leases that run out, with tokens that fence writes. */
import { createHash } from "node:crypto";
import { Client, escapeIdentifier, type ClientConfig, type Pool } from "pg";
import type { Queryable } from "#memory/stores/postgres/store-tables.ts";
import { onServer } from "#memory/stores/storage-errors.ts";
import type { Clock } from "#src/kernel/clock.ts";
import type { KeyLock, LeaseRef } from "../backend.ts";
import { assertNewest, Leases } from "../key-lock.ts";

export interface PostgresKeyLockOptions {
  /** For the one connection that says that this process lives. */
  readonly connection: ClientConfig;
  readonly schema: string;
  /** The server's name in error messages, without a password. */
  readonly server: string;
  readonly clock: Clock;
  /** How long a lease lasts without renewal, in milliseconds; 30 s by default. That of a process that was killed ends at once. */
  readonly leaseMs?: number | undefined;
}

/** No row has this name, which is no JSON: its token is the highest that a forgotten lock had, from which new ones go on. */
const FORGOTTEN = "highest-removed-token";

const LONGEST_ROW_BYTES = 1_000;

/** Makes the table of leases in `schema`, which exists. A row stays when its lease ends, so that tokens only grow. */
export async function setUpLeases(client: Queryable, schema: string): Promise<void> {
  const leases = leaseTable(schema);
  await client.query(`CREATE TABLE IF NOT EXISTS ${leases} (
    lock_name text COLLATE "C" PRIMARY KEY, token bigint NOT NULL, expires_at timestamptz NOT NULL)`);
  // Tables of earlier versions lack it.
  await client.query(`ALTER TABLE ${leases} ADD COLUMN IF NOT EXISTS pid integer`);
}

const leaseTable = (schema: string): string => `${escapeIdentifier(schema)}.lily_leases`;

/** Times are the server's, so that hosts need not agree on the time; `pid` is that of the holder's own connection. */
function leaseStatements(schema: string) {
  const leases = leaseTable(schema);
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
      SELECT count(*)::int AS count FROM gone`,
  };
}

/** The lock; its table exists. Leases can be checked inside a transaction. */
export class PostgresKeyLock implements KeyLock {
  readonly acquire: KeyLock["acquire"];
  readonly #pool: Pool;
  readonly #options: PostgresKeyLockOptions;
  readonly #leaseMs: number;
  readonly #sql: ReturnType<typeof leaseStatements>;
  readonly #leases: Leases;
  /** The connection that lives as long as this process, however it ends. */
  #alive: Promise<Alive> | undefined;

  constructor(pool: Pool, options: PostgresKeyLockOptions) {
    this.#pool = pool;
    this.#options = options;
    this.#leaseMs = options.leaseMs ?? 30_000;
    this.#sql = leaseStatements(options.schema);
    this.#leases = new Leases({
      clock: options.clock,
      leaseMs: this.#leaseMs,
      grant: (lockName) => this.#grant(lockName),
      renew: (ref) => this.#renew(ref),
      release: ({ lockName, token }) => this.#query(this.#sql.release, [rowOf(lockName), token]),
    });
    this.acquire = this.#leases.acquire;
  }

  async holder(lockName: string): Promise<LeaseRef | undefined> {
    const [row] = await this.#query<{ token: number }>(this.#sql.holder, [rowOf(lockName)]);
    return row === undefined ? undefined : { lockName, token: row.token };
  }

  /** Keeps newer grants waiting until the transaction of `client` is over. @throws {LilyError} `lease_lost` unless newest */
  async assertHeld(client: Queryable, ref: LeaseRef): Promise<void> {
    const { rows } = await client.query<{ token: number }>(this.#sql.newest, [rowOf(ref.lockName)]);
    assertNewest(ref, rows[0]?.token);
  }

  /** Forgets the locks whose names begin with `prefix` and that nobody holds; how many. */
  async forget(prefix: string): Promise<number> {
    // The row of a name that begins with `prefix` begins with this.
    const begin = JSON.stringify(prefix).slice(0, -1);
    const [row] = await this.#query<{ count: number }>(this.#sql.forget, [begin]);
    return row?.count ?? 0;
  }

  /** Gives back every lease that is still held and disconnects. Idempotent. */
  async close(): Promise<void> {
    await this.#leases.releaseAll();
    const alive = this.#alive;
    this.#alive = undefined;
    // One that could not be opened, or is gone, need not be ended.
    await alive?.then(({ client }) => client.end()).catch(() => undefined);
  }

  async #grant(lockName: string): Promise<number | undefined> {
    const values = [rowOf(lockName), this.#leaseMs, await this.#pid()];
    return (await this.#query<{ token: number }>(this.#sql.grant, values))[0]?.token;
  }

  /** Moves the end of a lease. @returns false when it is no longer the newest */
  async #renew({ lockName, token }: LeaseRef): Promise<boolean> {
    const values = [rowOf(lockName), token, this.#leaseMs, await this.#pid()];
    return (await this.#pool.query(this.#sql.renew, values)).rowCount === 1;
  }

  /** Of the connection that lives as long as this process; another one when it was lost. */
  async #pid(): Promise<number> {
    const { connection, server } = this.#options;
    const alive = (this.#alive ??= onServer(server, () => open(connection, () => (this.#alive = undefined))));
    return (await alive).pid;
  }

  async #query<Row extends object>(sql: string, values: unknown[]): Promise<Row[]> {
    return (await onServer(this.#options.server, () => this.#pool.query<Row>(sql, values))).rows;
  }
}

interface Alive {
  readonly client: Client;
  /** Of the server's process for this connection. */
  readonly pid: number;
}

async function open(connection: ClientConfig, onEnd: () => void): Promise<Alive> {
  const client = new Client({ ...connection, application_name: "lily locks", keepAlive: true });
  client.on("error", onEnd);
  client.on("end", onEnd);
  try {
    await client.connect();
    const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    return { client, pid: rows[0]?.pid ?? 0 };
  } catch (error) {
    onEnd();
    await client.end().catch(() => undefined);
    throw error;
  }
}

/** Different for different names, without NUL or halves of surrogate pairs, and short enough for an index. */
function rowOf(lockName: string): string {
  const text = JSON.stringify(lockName);
  const isLong = Buffer.byteLength(text) > LONGEST_ROW_BYTES;
  return isLong ? `sha256:${createHash("sha256").update(text).digest("hex")}` : text;
}
