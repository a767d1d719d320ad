/** Opens a SQLite file the way all of ours are opened, and says in plain words why one cannot be. */
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { assertNotNewer, migrate, type DatabaseSchema } from "./migrate.ts";
import { makeFolder } from "./make-folder.ts";
import { isBusy, toStorageError } from "../storage-errors.ts";

/** Options of {@link openDatabase}. */
export interface OpenDatabaseOptions {
  /** Tables that the file has to have; without it the tables are somebody else's. */
  readonly schema?: DatabaseSchema;
  /** `FULL` also survives a power loss after each commit; `NORMAL` a crash of the program. */
  readonly synchronous?: "NORMAL" | "FULL";
}

/** better-sqlite3 blocks the event loop while it waits for a lock, so it waits this long only. */
const BUSY_TIMEOUT_MS = 50;

/** Opening happens once and before anything is served: here blocking is right. */
const OPEN_TIMEOUT_MS = 5_000;

/** A turn takes about 1.4 kB: of these pages it leaves less unused than of SQLite's own 4 kB. */
const PAGE_BYTES = 8192;

/** The write-ahead log is cut to this after a checkpoint, so that one big transaction does not leave a big file. */
const LOG_LIMIT_BYTES = 16 * 1024 * 1024;

/**
 * Opens or creates `file` (mode 600, its folder 700) in WAL mode with `secure_delete`, and brings its tables up to
 * date. `:memory:` makes a database that lives in this connection.
 *
 * @throws {LilyError} `storage_newer` when a newer program made the file, which is left untouched;
 *   `storage_damaged`, `storage_readonly`, `storage_full`, `storage_busy` or `storage_failed`, each naming the file.
 */
export function openDatabase(file: string, options: OpenDatabaseOptions = {}): Database.Database {
  try {
    if (file !== ":memory:") prepareFile(file, options.schema);
    return openConnection(file, options);
  } catch (error) {
    throw toStorageError(error, file);
  }
}

function prepareFile(file: string, schema: DatabaseSchema | undefined): void {
  makeFolder(dirname(file));
  if (!existsSync(file)) closeSync(openSync(file, "a", 0o600));
  if (schema !== undefined) assertNotNewer(file, schema);
  accessSync(file, constants.R_OK | constants.W_OK);
  accessSync(dirname(file), constants.W_OK);
}

function openConnection(file: string, options: OpenDatabaseOptions): Database.Database {
  const db = new Database(file, { timeout: OPEN_TIMEOUT_MS });
  try {
    waitWhileBusy(() => configure(db, options.synchronous ?? "NORMAL"));
    if (options.schema !== undefined) migrate(db, options.schema);
    db.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function configure(db: Database.Database, synchronous: "NORMAL" | "FULL"): void {
  // Only a new file takes its page size; one that is in WAL mode stays so.
  db.exec(`PRAGMA page_size = ${PAGE_BYTES};
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = ${synchronous};
    PRAGMA secure_delete = ON;
    PRAGMA journal_size_limit = ${LOG_LIMIT_BYTES};`);
}

// Two programs that switch a new file to WAL at the same moment: SQLite refuses one of them without waiting.
function waitWhileBusy(work: () => void): void {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let waitedMs = 0; ; waitedMs += 20) {
    try {
      work();
      return;
    } catch (error) {
      if (!isBusy(error) || waitedMs >= OPEN_TIMEOUT_MS) throw error;
      Atomics.wait(pause, 0, 0, 20);
    }
  }
}

/** Whether `file` is there and can be read, and it or its folder cannot be written. */
export function isReadOnly(file: string): boolean {
  return (
    mayBe(file, constants.R_OK) && !(mayBe(file, constants.W_OK) && mayBe(dirname(file), constants.W_OK))
  );
}

function mayBe(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

/**
 * What `file` holds now, its log included, as a database in memory, for where nothing may be written: SQLite itself wants
 * files beside one whose log it shares. The files that this takes are gone when it returns.
 */
export function openCopy(file: string): Database.Database {
  const folder = mkdtempSync(join(tmpdir(), "lily-read-"));
  try {
    const copy = join(folder, "copy.sqlite");
    for (const end of ["", "-wal"]) {
      if (!existsSync(`${file}${end}`)) continue;
      copyFileSync(`${file}${end}`, `${copy}${end}`);
      chmodSync(`${copy}${end}`, 0o600);
    }
    const db = new Database(copy);
    try {
      // Folds the log in; a database in memory has none.
      db.pragma("journal_mode = DELETE");
      return new Database(db.serialize());
    } finally {
      db.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
