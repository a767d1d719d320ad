/** Copies a database that others go on writing: the copy is the state of one moment, log included. */
import { chmodSync } from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { LilyError } from "#src/kernel/errors.ts";
import { assertNotNewer } from "#memory/stores/sqlite/file-version.ts";
import { makeFolder } from "#memory/stores/sqlite/make-folder.ts";
import type { DatabaseSchema } from "#memory/stores/sqlite/migrate.ts";
import { retryBusy } from "#memory/stores/sqlite/retry-busy.ts";
import { toStorageError } from "#memory/stores/sqlite/sqlite-errors.ts";
import { findDamage } from "./damage.ts";
import { syncPath } from "./whole-file.ts";

/** Pages a step: some milliseconds, between which the event loop runs. */
const PAGES_PER_STEP = 1000;

/**
 * Copies `source` to `target`, which must not exist, and checks the copy. Nobody who writes is held up.
 *
 * @throws {LilyError} `storage_newer`, `storage_damaged` and the other storage errors, each naming the source
 */
export async function copyDatabase(
  source: string,
  target: string,
  options: { readonly schema?: DatabaseSchema } = {},
): Promise<void> {
  try {
    if (options.schema !== undefined) assertNotNewer(source, options.schema);
    makeFolder(dirname(target));
    await copySnapshot(source, target);
    chmodSync(target, 0o600);
    assertWhole(target, source);
    syncPath(target);
  } catch (error) {
    throw toStorageError(error, source);
  }
}

async function copySnapshot(source: string, target: string): Promise<void> {
  const db = new Database(source, { readonly: true, fileMustExist: true });
  try {
    // Without a transaction of ours, every write of another process would make SQLite begin the copy anew.
    await retryBusy(() => beginReading(db), { file: source });
    await db.backup(target, { progress: () => PAGES_PER_STEP });
  } finally {
    db.close();
  }
}

function beginReading(db: Database.Database): void {
  if (!db.inTransaction) db.exec("BEGIN");
  db.prepare("SELECT count(*) FROM sqlite_schema").get();
}

function assertWhole(copy: string, source: string): void {
  const db = new Database(copy, { fileMustExist: true });
  try {
    const [problem] = findDamage(db).pages;
    if (problem === undefined) return;
    throw new LilyError("storage_damaged", `the database ${source} is damaged (${problem})`, {
      next: "It was left as it is; restore an older backup with lily restore <folder>.",
    });
  } finally {
    db.close();
  }
}
