/** Folds a log into its file, and gives free pages back where nobody has to wait for it. */
import { statSync } from "node:fs";
import Database from "better-sqlite3";
import { openDatabase } from "#memory/stores/sqlite/open-database.ts";
import { isBusy } from "#memory/stores/sqlite/sqlite-errors.ts";
import { hasManyHoles, roomOf } from "../checks/database-file.ts";
import { sizeText } from "../size-text.ts";
import { done, left, type Outcome } from "./outcome.ts";

/** Folds the log in. */
export function foldLog(db: Database.Database): Outcome {
  const before = statSync(`${db.name}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (before === 0) return undefined;
  const [state] = db.prepare<[], { busy: number }>("PRAGMA wal_checkpoint(TRUNCATE)").all();
  if (state?.busy === 1) return left("left for later, because another process reads it");
  return done(`folded the log of ${sizeText(before)} into the file`);
}

/**
 * Gives the free pages of `file` back, of which no connection of this process is open. A VACUUM is one long write, so it
 * is not made while another process has the file open. Where little is free it is not worth it.
 */
export function giveSpaceBack(file: string): Outcome {
  if (!hasManyHoles(measure(file))) return undefined;
  if (!isUnused(file)) return left("left for a time when no other process has the file open");
  const db = openDatabase(file);
  try {
    const before = roomOf(db).total;
    // Whoever opens the file from here on reads at once and writes when this is done.
    db.exec("VACUUM");
    return done(`gave back ${sizeText(before - roomOf(db).total)}`);
  } finally {
    db.close();
  }
}

function measure(file: string) {
  const db = new Database(file, { readonly: true, fileMustExist: true });
  try {
    return roomOf(db);
  } finally {
    db.close();
  }
}

/** Whether no other connection is open. In this mode SQLite takes the whole file with the first look into it. */
function isUnused(file: string): boolean {
  const db = new Database(file, { fileMustExist: true, timeout: 0 });
  try {
    db.pragma("locking_mode = EXCLUSIVE");
    db.prepare("SELECT count(*) FROM sqlite_schema").get();
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  } finally {
    db.close();
  }
}
