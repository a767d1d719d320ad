/** Reads the leases of a store file, and tells who still holds one. */
import type { Database } from "better-sqlite3";
import type { LeaseRow } from "#src/storage/sqlite/lease-table.ts";
import { isProcessGone } from "#src/storage/sqlite/process-identity.ts";

/** The leases of a file by what became of their holders. */
export interface LeaseStates {
  /** Held by a process that runs, or of which nothing is known because it is on another host. */
  readonly live: readonly LeaseRow[];
  /** Held by a process of this host that is gone. */
  readonly dead: readonly LeaseRow[];
  /** Not renewed in time and not given back. */
  readonly runOut: readonly LeaseRow[];
}

/** Sorts the leases of `db` at the instant `now`. A file without the table has none. */
export function leaseStatesIn(db: Database, now: number): LeaseStates {
  const rows = hasTable(db, "leases")
    ? db.prepare<[], LeaseRow>("SELECT * FROM leases WHERE expires_at > 0 ORDER BY name").all()
    : [];
  const current = rows.filter((row) => row.expires_at > now);
  return {
    live: current.filter((row) => !isProcessGone(row)),
    dead: current.filter((row) => isProcessGone(row)),
    runOut: rows.filter((row) => row.expires_at <= now),
  };
}

/** Whether `db` has a table of that name. */
export function hasTable(db: Database, name: string): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?").get(name) !== undefined;
}
