/** Takes databases out of use: while they are held, no other connection of this machine reads or writes them. */
import { existsSync } from "node:fs";
import Database from "better-sqlite3";
import type { Clock } from "#src/kernel/clock.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { isBusy, toStorageError } from "#memory/stores/sqlite/sqlite-errors.ts";
import { leaseStatesIn } from "./lease-rows.ts";

/** Databases that are out of use. */
export interface HeldDatabases {
  /** Lets others have them. Idempotent. */
  release(): void;
}

/**
 * Holds those of `files` that exist. Their logs are folded into them and they leave WAL mode, which only the sole
 * connection can do: so an idle connection of another process is found too, and nothing is left beside the files.
 * Whoever opens such a file after it was moved aside is refused by SQLite, which looks whether a file has been moved
 * before it writes, but not in WAL mode. A damaged file cannot be held and is left as it is.
 *
 * @throws {LilyError} `storage_busy` when another process has one open, or a process of another host holds a lease
 */
export function holdDatabases(files: readonly string[], clock: Clock): HeldDatabases {
  const held: Database.Database[] = [];
  const release = (): void => {
    for (const db of held.splice(0)) db.close();
  };
  try {
    for (const file of files.filter((path) => existsSync(path))) {
      const db = hold(file, clock);
      if (db !== undefined) held.push(db);
    }
    return { release };
  } catch (error) {
    release();
    throw error;
  }
}

function hold(file: string, clock: Clock): Database.Database | undefined {
  const db = new Database(file, { fileMustExist: true, timeout: 0 });
  try {
    takeAlone(db);
    assertNoLease(db, clock);
    return db;
  } catch (error) {
    db.close();
    if (isBusy(error)) throw inUse(file, "another process has it open");
    const told = toStorageError(error, file);
    if (told instanceof LilyError && told.code === "storage_damaged") return undefined;
    throw told;
  }
}

// Leaving WAL mode needs the file for oneself; the transaction then keeps it. In between somebody may come and go.
function takeAlone(db: Database.Database): void {
  db.pragma("locking_mode = EXCLUSIVE");
  db.pragma("journal_mode = DELETE");
  db.pragma("locking_mode = NORMAL");
  db.exec("BEGIN EXCLUSIVE");
  if (db.pragma("journal_mode", { simple: true }) !== "delete")
    throw inUse(db.name, "another process opened it just now");
}

function assertNoLease(db: Database.Database, clock: Clock): void {
  const [lease] = leaseStatesIn(db, clock.now()).live;
  if (lease === undefined) return;
  throw inUse(db.name, `process ${lease.pid} on ${lease.host} is in a turn`);
}

function inUse(file: string, why: string): LilyError {
  return new LilyError("storage_busy", `the database ${file} is in use: ${why}`, {
    next: "Nothing was changed; end every lily that uses this folder and try again.",
  });
}
