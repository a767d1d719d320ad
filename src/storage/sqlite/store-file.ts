/** Whether the store file is there and is the one that belongs to the checkpoints: what is written to another one is lost. */
import { closeSync, openSync, readSync, statSync } from "node:fs";
import Database from "better-sqlite3";
import { LilyError } from "#src/kernel/errors.ts";

// https://www.sqlite.org/fileformat.html#the_database_header
const MAGIC = "SQLite format 3\u0000";
const USER_VERSION = 60;
const HEADER_BYTES = 100;

const FROM_A_BACKUP =
  "Put the file back, or restore a backup: lily restore <folder>. Nothing was written; lily doctor tells more.";

/**
 * Called before anything is opened: a store without tables would begin every conversation anew, without a word.
 *
 * @throws {LilyError} `storage_damaged` when the store is missing or has no tables, and there are checkpoints
 */
export function assertStoreNotLost(storePath: string, checkpointPath: string): void {
  if (!isEmpty(storePath) || !hasCheckpoints(checkpointPath)) return;
  const what = statSync(storePath, { throwIfNoEntry: false }) === undefined ? "is missing" : "is empty";
  throw new LilyError(
    "storage_damaged",
    `the database ${storePath} ${what}, and ${checkpointPath} has checkpoints of conversations`,
    { next: FROM_A_BACKUP },
  );
}

/**
 * What tells, before each write, whether `path` is still the file that was opened.
 *
 * @throws {LilyError} `storage_damaged` when it was removed or replaced
 */
export function watchStoreFile(path: string): () => void {
  const opened = fileAt(path);
  return () => {
    const found = fileAt(path);
    if (found === opened) return;
    const what = found === undefined ? "removed" : "replaced by another file";
    throw new LilyError("storage_damaged", `the database ${path} was ${what} while it was in use`, {
      next: `${FROM_A_BACKUP} Then start again.`,
    });
  };
}

function fileAt(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true });
  return stat === undefined ? undefined : `${stat.dev} ${stat.ino}`;
}

/** Whether the file holds no version of a schema of ours. With a log beside it SQLite has to read it, and will tell. */
function isEmpty(path: string): boolean {
  if (sizeOf(`${path}-wal`) > 0) return false;
  if (sizeOf(path) === 0) return true;
  const header = Buffer.alloc(HEADER_BYTES);
  const handle = openSync(path, "r");
  try {
    readSync(handle, header, 0, HEADER_BYTES, 0);
  } finally {
    closeSync(handle);
  }
  return header.toString("latin1", 0, MAGIC.length) === MAGIC && header.readUInt32BE(USER_VERSION) === 0;
}

/** Opened for writing, because closing such a connection leaves no log behind. */
function hasCheckpoints(path: string): boolean {
  if (sizeOf(path) === 0) return false;
  const db = new Database(path, { fileMustExist: true });
  try {
    const table = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'checkpoints'").get();
    return table !== undefined && db.prepare("SELECT 1 FROM checkpoints LIMIT 1").get() !== undefined;
  } catch {
    // What cannot be read is not empty.
    return true;
  } finally {
    db.close();
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
