/** Looks at one database file: can it be opened, is it ours, is it whole, does anybody else have it open. */
import { statSync } from "node:fs";
import Database from "better-sqlite3";
import { assertNotNewer } from "#memory/stores/sqlite/file-version.ts";
import type { DatabaseSchema } from "#memory/stores/sqlite/migrate.ts";
import { isBusy, isDamage, toStorageError } from "#memory/stores/sqlite/sqlite-errors.ts";
import type { Clock } from "#src/kernel/clock.ts";
import { errorMessage, isLilyError, LilyError } from "#src/kernel/errors.ts";
import { fine, wrong, type Check } from "./check.ts";

/** Either a connection that only reads, which its opener closes, or the row that says why there is none. */
export type Opened =
  | { readonly db: Database.Database; readonly check?: never }
  | { readonly db?: never; readonly check: Check };

/** What SQLite finds wrong in a database. */
export interface Damage {
  /** In tables and pages: something is lost. */
  readonly pages: readonly string[];
  /** In full-text indexes, which are made anew from what they index. */
  readonly text: readonly string[];
}

const RESTORE = "It is kept as it is. lily restore <folder> puts a backup in its place, and keeps it.";

/** Opens a file for reading. A file that is not there, newer, or no database, is a row. */
export function openForReading(file: string, check: string, schema?: DatabaseSchema): Opened {
  let db: Database.Database | undefined;
  try {
    // Throws where the folder may not be looked into, which is something else than a file that is not there.
    if (statSync(file, { throwIfNoEntry: false }) === undefined)
      return { check: fine(check, `${file} does not exist yet`) };
    if (schema !== undefined) assertNotNewer(file, schema);
    db = new Database(file, { readonly: true, fileMustExist: true });
    db.prepare("SELECT count(*) FROM sqlite_schema").get();
    return { db };
  } catch (thrown) {
    db?.close();
    const error = toStorageError(thrown, file);
    const code = isLilyError(error) ? error.code : "storage_failed";
    const next = code === "storage_damaged" ? RESTORE : isLilyError(error) ? error.next : undefined;
    return { check: wrong(check, errorMessage(error), { code, next }) };
  }
}

/** The row of a file's pages. */
export function checkWhole(db: Database.Database, check: string): Check {
  const [problem] = damageIn(db).pages;
  if (problem === undefined) return fine(check, `${db.name} is whole`);
  return wrong(check, `${db.name} is damaged: ${problem}`, { code: "storage_damaged", next: RESTORE });
}

/** Asks SQLite whether every page of `db` is what it should be. Reads only. */
export function damageIn(db: Database.Database): Damage {
  let found: string[];
  try {
    found = db.prepare<[], string>("PRAGMA quick_check").pluck().all();
  } catch (error) {
    // The damage is such that not even looking for it works.
    if (!isDamage(error)) throw error;
    found = [errorMessage(error)];
  }
  const problems = found.filter((problem) => problem !== "ok");
  const isText = (problem: string): boolean => problem.includes("FTS5 table");
  return { pages: problems.filter((problem) => !isText(problem)), text: problems.filter(isText) };
}

/**
 * Makes sure that nobody else has `file` open or is in a turn, and folds its log into it. A file that is missing or
 * damaged is nobody's.
 *
 * @throws {LilyError} `storage_busy`
 */
export function assertUnused(file: string, clock: Clock): void {
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return;
  const db = new Database(file, { fileMustExist: true, timeout: 0 });
  try {
    // In this mode the first look takes the whole file, which fails while any other connection has it open.
    db.pragma("locking_mode = EXCLUSIVE");
    if (!hasTable(db, "leases")) return;
    const held = db.prepare<[number], number>("SELECT max(expires_at) FROM leases WHERE expires_at > ?");
    const until = held.pluck().get(clock.now()) ?? null;
    if (until !== null)
      throw inUse(file, `somebody is in a turn, until ${new Date(until).toISOString()} at most`);
  } catch (error) {
    if (isBusy(error)) throw inUse(file, "another process has it open");
    const told = toStorageError(error, file);
    if (!isLilyError(told) || told.code !== "storage_damaged") throw told;
  } finally {
    db.close();
  }
}

function inUse(file: string, why: string): LilyError {
  return new LilyError("storage_busy", `the database ${file} is in use: ${why}`, {
    next: "Nothing was changed; end every lily that uses this folder and try again.",
  });
}

/** Whether `db` has a table of that name. */
export function hasTable(db: Database.Database, name: string): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?").get(name) !== undefined;
}
