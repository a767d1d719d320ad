/** Reads the version of a database file without changing a byte of it. */
import { closeSync, openSync, readSync, statSync } from "node:fs";
import Database from "better-sqlite3";
import { assertVersion, readVersion, type DatabaseSchema, type FileVersion } from "./migrate.ts";

const MAGIC = "SQLite format 3\u0000";
const HEADER_BYTES = 100;

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

// https://www.sqlite.org/fileformat.html#the_database_header: page size at 16, user_version at 60, application_id at 68.
// A header that is no header is left for SQLite to report.
function readHeader(file: string): FileVersion | undefined {
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

function hasLog(file: string): boolean {
  return (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
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
