/** The table of leases: which token of each lock is the newest. A row stays when its lease ends, so tokens only grow. */
import { escapeIdentifier, type ClientBase } from "pg";

/** Makes the table in `schema`, which exists. */
export async function setUpLeases(client: ClientBase, schema: string): Promise<void> {
  await client.query(`CREATE TABLE IF NOT EXISTS ${leaseTable(schema)} (
    lock_name text COLLATE "C" PRIMARY KEY,
    token bigint NOT NULL,
    expires_at timestamptz NOT NULL
  )`);
}

/** Not a lock: a row whose token is the highest that a removed row had, from which new rows go on. Rows are JSON texts. */
const HIGHEST_REMOVED = "highest-removed-token";

function leaseTable(schema: string): string {
  return `${escapeIdentifier(schema)}.lily_leases`;
}

/** Whether the row `held` of `pg_locks` is the advisory lock of that number, taken in this database. */
function isAdvisory(parameter: string): string {
  return `held.locktype = 'advisory' AND held.granted AND held.objsubid = 1
        AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND ((held.classid::bigint << 32) | held.objid::bigint) = ${parameter}::bigint`;
}

/** The statements of the lock. Times are the server's, so that hosts need not agree on the time. */
export function leaseStatements(schema: string) {
  const leases = leaseTable(schema);
  const until = (parameter: string): string =>
    `clock_timestamp() + ${parameter}::float8 * interval '1 millisecond'`;
  return {
    /**
     * advisory number, row, milliseconds. Takes the advisory lock of this connection and counts the token in one step.
     * @returns the token, or no row when somebody else has the lock
     */
    grant: `WITH attempt AS MATERIALIZED (SELECT pg_try_advisory_lock($1::bigint) AS granted)
      INSERT INTO ${leases} AS lease (lock_name, token, expires_at)
      SELECT $2, 1 + coalesce((SELECT removed.token FROM ${leases} AS removed WHERE removed.lock_name = '${HIGHEST_REMOVED}'), 0),
        ${until("$3")} FROM attempt WHERE granted
      ON CONFLICT (lock_name) DO UPDATE SET token = lease.token + 1, expires_at = excluded.expires_at
      RETURNING token::float8 AS token`,
    /** advisory number */
    unlock: "SELECT pg_advisory_unlock($1::bigint)",
    /** rows, tokens, milliseconds. @returns the rows whose token is still the newest */
    renew: `UPDATE ${leases} AS lease SET expires_at = ${until("$3")}
      FROM unnest($1::text[], $2::bigint[]) AS held (lock_name, token)
      WHERE lease.lock_name = held.lock_name AND lease.token = held.token RETURNING lease.lock_name AS "row"`,
    /** row; the token of a lease that its holder has not renewed in time */
    overdue: `SELECT token::float8 AS token FROM ${leases} WHERE lock_name = $1 AND expires_at < clock_timestamp()`,
    /** advisory number, row; the token of the lease whose advisory lock is held. A row alone outlives its lease. */
    holder: `SELECT token::float8 AS token FROM ${leases} WHERE lock_name = $2 AND EXISTS (
      SELECT 1 FROM pg_locks AS held WHERE ${isAdvisory("$1")})`,
    /** advisory number, row, token. Ends the connection of a holder that does not renew, and with it its lock. */
    evict: `SELECT pg_terminate_backend(held.pid) FROM pg_locks AS held
      JOIN ${leases} AS lease ON lease.lock_name = $2 AND lease.token = $3 AND lease.expires_at < clock_timestamp()
      WHERE ${isAdvisory("$1")}`,
    /** beginning of rows. @returns the rows that begin so, with their tokens */
    under: `SELECT lock_name AS "row", token::float8 AS token FROM ${leases} WHERE starts_with(lock_name, $1)`,
    /** row, token. Removes it if the token is still the newest, and keeps the highest token that was ever removed. */
    forget: `WITH gone AS (DELETE FROM ${leases} WHERE lock_name = $1 AND token = $2 RETURNING token)
      INSERT INTO ${leases} AS kept (lock_name, token, expires_at)
      SELECT '${HIGHEST_REMOVED}', token, clock_timestamp() FROM gone
      ON CONFLICT (lock_name) DO UPDATE SET token = greatest(kept.token, excluded.token)`,
    /** row; keeps a newer grant waiting until the transaction is over */
    newest: `SELECT token::float8 AS token FROM ${leases} WHERE lock_name = $1 FOR SHARE`,
  };
}

/** The statements of the lock in one schema. */
export type LeaseStatements = ReturnType<typeof leaseStatements>;
