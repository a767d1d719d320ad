/** The table of leases: who holds which lock until when. A row stays when its lease ends, so that tokens only grow. */
import type { Database } from "better-sqlite3";
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

/** Reads and writes of the table; each is one statement or one transaction. */
export interface LeaseTable {
  /** Takes the lock unless somebody holds it. @returns the token, `undefined` when it is held */
  grant(
    name: string,
    terms: { readonly holder: string; readonly now: number; readonly expiresAt: number },
  ): number | undefined;
  /** Moves the end of a lease. @returns false when the lease is no longer the newest */
  renew(name: string, token: number, expiresAt: number): boolean;
  /** The token of the lease that is held at `now`, `undefined` when nobody holds it. */
  heldToken(name: string, now: number): number | undefined;
  /** The newest token, `undefined` when there was never a grant. */
  newestToken(name: string): number | undefined;
}

/** Makes the table in `db` where it is missing; grants are in the name of the process `self`. */
export function openLeaseTable(db: Database, self: ProcessIdentity): LeaseTable {
  db.exec(`CREATE TABLE IF NOT EXISTS leases (
    name TEXT PRIMARY KEY, token INTEGER NOT NULL, holder TEXT NOT NULL,
    pid INTEGER NOT NULL, host TEXT NOT NULL, started INTEGER, expires_at INTEGER NOT NULL
  ) STRICT`);
  const find = db.prepare<[string], LeaseRow>("SELECT * FROM leases WHERE name = ?");
  const put = db.prepare<LeaseRow>(
    `INSERT OR REPLACE INTO leases (name, token, holder, pid, host, started, expires_at)
     VALUES (@name, @token, @holder, @pid, @host, @started, @expires_at)`,
  );
  const renew = db.prepare<[number, string, number]>(
    "UPDATE leases SET expires_at = ? WHERE name = ? AND token = ?",
  );
  const takeIfFree = db.transaction((row: Omit<LeaseRow, "token">, now: number) => {
    const current = find.get(row.name);
    if (current !== undefined && isHeld(current, now, self.host)) return undefined;
    const token = (current?.token ?? 0) + 1;
    put.run({ ...row, token });
    return token;
  });

  return {
    grant(name, { holder, now, expiresAt }) {
      const current = find.get(name);
      // Looking first keeps those who wait from taking turns at the write lock.
      if (current !== undefined && isHeld(current, now, self.host)) return undefined;
      return takeIfFree.immediate({ ...self, name, holder, expires_at: expiresAt }, now);
    },
    renew: (name, token, expiresAt) => renew.run(expiresAt, name, token).changes === 1,
    heldToken(name, now) {
      const current = find.get(name);
      return current !== undefined && isHeld(current, now, self.host) ? current.token : undefined;
    },
    newestToken: (name) => find.get(name)?.token,
  };
}

function isHeld(row: LeaseRow, now: number, host: string): boolean {
  return row.expires_at > now && !isProcessGone(row, host);
}
