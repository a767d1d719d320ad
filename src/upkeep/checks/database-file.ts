/** Checks one database file: can it be opened, is it ours, is it whole, how large have its log and its holes become. */
import { existsSync, statSync } from "node:fs";
import Database from "better-sqlite3";
import { assertNotNewer } from "#memory/stores/sqlite/file-version.ts";
import type { DatabaseSchema } from "#memory/stores/sqlite/migrate.ts";
import { toStorageError } from "#memory/stores/sqlite/sqlite-errors.ts";
import { errorMessage, isLilyError } from "#src/kernel/errors.ts";
import { fine, warning, wrong, type Check } from "../check.ts";
import { findDamage } from "../damage.ts";
import { sizeText } from "../size-text.ts";

/** A database that can be read. Whoever opened it closes it. */
export type ReadableDatabase = Database.Database;

/** Either a connection that only reads, or the row that says why there is none. */
export type Opened =
  | { readonly db: ReadableDatabase; readonly check?: never }
  | { readonly db?: never; readonly check: Check };

/** From here on only the quick check is made: the whole one reads every index once more. */
const QUICK_FROM_BYTES = 256 * 1024 * 1024;

/** Four times the size to which the log is cut after each checkpoint. */
const LARGE_LOG_BYTES = 64 * 1024 * 1024;

/** Holes that are worth a VACUUM. */
const MANY_FREE = { share: 0.25, bytes: 8 * 1024 * 1024 };

const RESTORE = "It is kept as it is. lily restore <folder> puts a backup in its place, and keeps it beside.";

/** Opens a file for reading. A file that is not there, newer, or no database, is a row. */
export function openForReading(file: string, check: string, schema?: DatabaseSchema): Opened {
  let db: Database.Database | undefined;
  try {
    if (!existsSync(file)) return { check: fine(check, `${file} does not exist yet`) };
    if (schema !== undefined) assertNotNewer(file, schema);
    db = new Database(file, { readonly: true, fileMustExist: true });
    db.prepare("SELECT count(*) FROM sqlite_schema").get();
    return { db };
  } catch (error) {
    db?.close();
    return { check: refusal(check, toStorageError(error, file)) };
  }
}

function refusal(check: string, error: unknown): Check {
  const code = isLilyError(error) ? error.code : "storage_failed";
  const next = code === "storage_damaged" ? RESTORE : isLilyError(error) ? error.next : undefined;
  return wrong(check, errorMessage(error), { code, ...(next === undefined ? {} : { next }) });
}

/** Whether every page is what it should be, and every reference leads somewhere. */
export function checkWhole(db: ReadableDatabase, check: string): Check {
  const isLarge = statSync(db.name).size > QUICK_FROM_BYTES;
  const [problem] = findDamage(db, { quick: isLarge }).pages;
  if (problem !== undefined) {
    return wrong(check, `${db.name} is damaged: ${problem}`, { code: "storage_damaged", next: RESTORE });
  }
  const strays = db.prepare("PRAGMA foreign_key_check").all().length;
  if (strays > 0) {
    return wrong(check, `${db.name} has ${strays} rows that refer to nothing`, {
      code: "storage_damaged",
      next: RESTORE,
    });
  }
  return fine(check, `${db.name} is whole${isLarge ? " (quick check)" : ""}`);
}

/** How much of the file and its log is not needed. */
export function checkRoom(db: ReadableDatabase, check: string): Check {
  const log = statSync(`${db.name}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  const { total, free } = roomOf(db);
  const found = `file ${sizeText(total)}, ${sizeText(free)} of it free; log ${sizeText(log)}`;
  if (log > LARGE_LOG_BYTES) {
    return warning(
      check,
      found,
      "Something reads for long, or was killed: lily doctor --repair folds the log in.",
    );
  }
  if (hasManyHoles({ total, free })) {
    return warning(
      check,
      found,
      "lily doctor --repair gives the free space back when nobody else has it open.",
    );
  }
  return fine(check, found);
}

/** Bytes of a file, and of its pages that hold nothing. */
export interface Room {
  readonly total: number;
  readonly free: number;
}

/** The room of a database. */
export function roomOf(db: ReadableDatabase): Room {
  const [pageSize, pages, free] = ["page_size", "page_count", "freelist_count"].map((name) =>
    Number(db.pragma(name, { simple: true })),
  );
  return { total: (pages ?? 0) * (pageSize ?? 0), free: (free ?? 0) * (pageSize ?? 0) };
}

/** Whether so much is free that a VACUUM is worth its time. */
export function hasManyHoles({ total, free }: Room): boolean {
  return free >= MANY_FREE.bytes && free >= total * MANY_FREE.share;
}
