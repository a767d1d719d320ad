/** Versions of a database file: which one its tables have, and what brings an older file up to date. */
import { closeSync, openSync, readSync, statSync } from "node:fs";
import Database from "better-sqlite3";
import { LilyError } from "#src/kernel/errors.ts";

/** The tables of one kind of file. */
export interface DatabaseSchema {
  /** Marks the file as ours, in SQLite's header. */
  readonly applicationId: number;
  /** Version of the tables, from 1. */
  readonly version: number;
  /** Brings the tables from version `from` to the present one; 0 is a new file. Runs in a transaction. */
  upgrade(db: Database.Database, from: number): void;
}

/**
 * Brings `db` up to date where it is not, in one transaction. Programs that do so at once take turns.
 *
 * @throws {LilyError} `storage_newer` or `storage_failed`, before anything is written.
 */
export function migrate(db: Database.Database, schema: DatabaseSchema): void {
  if (assertVersion(readVersion(db), schema, db.name) === schema.version) return;
  const upgrade = db.transaction(() => {
    const from = assertVersion(readVersion(db), schema, db.name);
    if (from === schema.version) return;
    schema.upgrade(db, from);
    db.pragma(`application_id = ${schema.applicationId}`);
    db.pragma(`user_version = ${schema.version}`);
  });
  upgrade.immediate();
}

/** What the header of a database says of who made it. */
export interface FileVersion {
  readonly version: number;
  readonly applicationId: number;
}

/** Reads it through a connection, so with what a log holds. */
export function readVersion(db: Database.Database): FileVersion {
  return {
    version: Number(db.pragma("user_version", { simple: true })),
    applicationId: Number(db.pragma("application_id", { simple: true })),
  };
}

/**
 * The version, unless the file is not for this program.
 *
 * @throws {LilyError} `storage_newer` for a version beyond ours, `storage_failed` for another program's file.
 */
export function assertVersion(found: FileVersion, schema: DatabaseSchema, file: string): number {
  if (found.applicationId !== 0 && found.applicationId !== schema.applicationId) {
    throw new LilyError("storage_failed", `${file} is the database of another program`, {
      next: "The file is left as it is; choose another path.",
    });
  }
  if (found.version > schema.version) {
    const versions = `version ${found.version}; this program knows ${schema.version}`;
    throw new LilyError("storage_newer", `${file} was written by a newer program (${versions})`, {
      next: "The file is left as it is; update the program.",
    });
  }
  return found.version;
}

/**
 * Refuses a file that a newer program or another program made, before SQLite opens it for writing: merely closing such
 * a connection would fold a log that a crash left into the file.
 *
 * @throws {LilyError} `storage_newer` or `storage_failed`.
 */
export function assertNotNewer(file: string, schema: DatabaseSchema): void {
  const header = readHeader(file);
  if (header === undefined) return;
  assertVersion(header, schema, file);
  if (hasLog(file)) assertVersion(readThroughLog(file), schema, file);
}

/** Whether a log lies beside the file, whose content counts. */
export function hasLog(file: string): boolean {
  return (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

const MAGIC = "SQLite format 3\u0000";
const HEADER_BYTES = 100;

/**
 * The version in the file itself, read without SQLite, which might change it; `undefined` for a header that is none, which
 * is left for SQLite to report.
 */
export function readHeader(file: string): FileVersion | undefined {
  // https://www.sqlite.org/fileformat.html#the_database_header: page size at 16, user_version at 60, application_id at 68.
  const header = Buffer.alloc(HEADER_BYTES);
  const handle = openSync(file, "r");
  try {
    readSync(handle, header, 0, HEADER_BYTES, 0);
  } finally {
    closeSync(handle);
  }
  if (header.toString("latin1", 0, MAGIC.length) !== MAGIC || !isPageSize(header.readUInt16BE(16)))
    return undefined;
  return { version: header.readUInt32BE(60), applicationId: header.readUInt32BE(68) };
}

// A power of two from 512 to 32768, or 1 for 65536.
function isPageSize(size: number): boolean {
  return size === 1 || (size >= 512 && (size & (size - 1)) === 0);
}

/** The version with what a crashed program left in the log. A read-only connection does not fold the log. */
function readThroughLog(file: string): FileVersion {
  const db = new Database(file, { readonly: true });
  try {
    return readVersion(db);
  } finally {
    db.close();
  }
}
