/** Reads a database where nothing may be written: SQLite itself wants files beside one whose log it shares. */
import { accessSync, chmodSync, constants, copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";

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

/** What `file` holds now, its log included, as a database in memory. The files that this takes are gone when it returns. */
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
