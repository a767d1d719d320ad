/** The table of leases: who holds which lock until when. A row stays when its lease ends, so that tokens only grow. */
import type { Database } from "better-sqlite3";
import { preparedOnUse } from "#memory/stores/sqlite/prepared-on-use.ts";
import { isProcessGone, type ProcessIdentity } from "./process-identity.ts";

/** A row of the table. */
export interface LeaseRow extends ProcessIdentity {
  readonly name: string;
  readonly token: number;
  /** Which lock object granted it. */
  readonly holder: string;
  /** Milliseconds since the epoch; 0 when it was given back. */
  readonly expires_at: number;
}

/** Who asks for a lock, and until when. */
export interface GrantTerms {
  readonly holder: string;
  readonly now: number;
  readonly expiresAt: number;
  /** It was held when it was asked for before. */
  readonly isAgain?: boolean;
}

/** Reads and writes of the table; each is one statement or one transaction. */
export interface LeaseTable {
  /** Takes the lock unless somebody holds it. @returns the token, `undefined` when it is held */
  grant(name: string, terms: GrantTerms): number | undefined;
  /** Moves the end of a lease. @returns false when the lease is no longer the newest */
  renew(name: string, token: number, expiresAt: number): boolean;
  /** The token of the lease that is held at `now`, `undefined` when nobody holds it. */
  heldToken(name: string, now: number): number | undefined;
  /** The newest token, `undefined` when there was never a grant. */
  newestToken(name: string): number | undefined;
  /** Removes the rows of locks that begin with `prefix` and that nobody holds at `now`; how many. */
  forget(prefix: string, now: number): number;
}

/** Not a lock: its token is the highest that a removed row had, from which new rows go on. No lock has this name. */
const HIGHEST_REMOVED = "highest-removed-token";

/** Makes the table in `db` where it is missing; grants are in the name of the process that `tellSelf` names. */
export function openLeaseTable(db: Database, tellSelf: () => ProcessIdentity): LeaseTable {
  const statements = prepareStatements(db);
  let told: ProcessIdentity | undefined;
  // The system is asked when there is a lock to take or to look behind.
  const self = (): ProcessIdentity => (told ??= tellSelf());
  const isHeld = (row: LeaseRow, now: number): boolean =>
    row.expires_at > now && !isProcessGone(row, self().host);
  const takeIfFree = db.transaction((row: Omit<LeaseRow, "token">, now: number) => {
    const current = statements.find.get(row.name);
    if (current !== undefined && isHeld(current, now)) return undefined;
    const token = (current ?? statements.find.get(HIGHEST_REMOVED))?.token ?? 0;
    statements.put.run({ ...row, token: token + 1 });
    return token + 1;
  });
  const forget = db.transaction((prefix: string, now: number) => {
    const rows = statements.under.all(prefix, prefix).filter((row) => !isHeld(row, now));
    const highest = Math.max(
      statements.find.get(HIGHEST_REMOVED)?.token ?? 0,
      ...rows.map(({ token }) => token),
    );
    for (const { name } of rows) statements.remove.run(name);
    if (rows.length > 0) statements.put.run({ ...NOBODY, token: highest });
    return rows.length;
  });

  return {
    grant(name, { holder, now, expiresAt, isAgain = false }) {
      const row = { ...self(), name, holder, expires_at: expiresAt };
      const token = isAgain ? undefined : statements.takeFree.get({ ...row, now, removed: HIGHEST_REMOVED });
      if (token !== undefined) return token;
      // Looking first keeps those who wait from taking turns at the write lock.
      const current = statements.find.get(name);
      if (current !== undefined && isHeld(current, now)) return undefined;
      return takeIfFree.immediate(row, now);
    },
    renew: (name, token, expiresAt) => statements.renew.run(expiresAt, name, token).changes === 1,
    heldToken(name, now) {
      const current = statements.find.get(name);
      return current !== undefined && isHeld(current, now) ? current.token : undefined;
    },
    newestToken: (name) => statements.find.get(name)?.token,
    forget: (prefix, now) => forget.immediate(prefix, now),
  };
}

/** The row that keeps the highest token of those that were removed. */
const NOBODY = {
  name: HIGHEST_REMOVED,
  holder: "",
  pid: 0,
  host: "",
  started: null,
  expires_at: 0,
} as const;

function prepareStatements(db: Database) {
  db.exec(`CREATE TABLE IF NOT EXISTS leases (
    name TEXT PRIMARY KEY, token INTEGER NOT NULL, holder TEXT NOT NULL,
    pid INTEGER NOT NULL, host TEXT NOT NULL, started INTEGER, expires_at INTEGER NOT NULL
  ) STRICT`);
  return preparedOnUse({
    find: () => db.prepare<[string], LeaseRow>("SELECT * FROM leases WHERE name = ?"),
    put: () =>
      db.prepare<LeaseRow>(
        `INSERT OR REPLACE INTO leases (name, token, holder, pid, host, started, expires_at)
       VALUES (@name, @token, @holder, @pid, @host, @started, @expires_at)`,
      ),
    renew: () =>
      db.prepare<[number, string, number]>("UPDATE leases SET expires_at = ? WHERE name = ? AND token = ?"),
    /** Takes a lock that was given back, or that nobody has held, in one statement; the token, if it was. */
    takeFree: () =>
      db
        .prepare<Omit<LeaseRow, "token"> & { readonly now: number; readonly removed: string }, number>(
          `INSERT INTO leases (name, token, holder, pid, host, started, expires_at)
         VALUES (@name, coalesce((SELECT token FROM leases WHERE name = @removed), 0) + 1,
           @holder, @pid, @host, @started, @expires_at)
         ON CONFLICT (name) DO UPDATE SET token = token + 1, holder = excluded.holder, pid = excluded.pid,
           host = excluded.host, started = excluded.started, expires_at = excluded.expires_at
         WHERE leases.expires_at <= @now RETURNING token`,
        )
        .pluck(),
    under: () =>
      db.prepare<[string, string], LeaseRow>("SELECT * FROM leases WHERE substr(name, 1, length(?)) = ?"),
    remove: () => db.prepare<[string]>("DELETE FROM leases WHERE name = ?"),
  });
}
