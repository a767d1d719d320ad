/** Versions of a database file: which one its tables have, and what brings an older file up to date. */
import type { Database } from "better-sqlite3";
import { LilyError } from "#src/kernel/errors.ts";

/** The tables of one kind of file. */
export interface DatabaseSchema {
  /** Marks the file as ours, in SQLite's header. */
  readonly applicationId: number;
  /** Version of the tables, from 1. */
  readonly version: number;
  /** Brings the tables from version `from` to the present one; 0 is a new file. Runs in a transaction. */
  upgrade(db: Database, from: number): void;
}

/**
 * Brings `db` up to date where it is not, in one transaction. Programs that do so at once take turns.
 *
 * @throws {LilyError} `storage_newer` or `storage_failed`, before anything is written.
 */
export function migrate(db: Database, schema: DatabaseSchema): void {
  if (versionOf(db, schema) === schema.version) return;
  const upgrade = db.transaction(() => {
    const from = versionOf(db, schema);
    if (from === schema.version) return;
    schema.upgrade(db, from);
    db.pragma(`application_id = ${schema.applicationId}`);
    db.pragma(`user_version = ${schema.version}`);
  });
  upgrade.immediate();
}

function versionOf(db: Database, schema: DatabaseSchema): number {
  const found = readVersion(db);
  assertVersion(found, schema, db.name);
  return found.version;
}

/** What the header of a database says of who made it. */
export interface FileVersion {
  readonly version: number;
  readonly applicationId: number;
}

/** Reads it through a connection, so with what a log holds. */
export function readVersion(db: Database): FileVersion {
  return {
    version: Number(db.pragma("user_version", { simple: true })),
    applicationId: Number(db.pragma("application_id", { simple: true })),
  };
}

/** @throws {LilyError} `storage_newer` for a version beyond ours, `storage_failed` for another program's file. */
export function assertVersion(found: FileVersion, schema: DatabaseSchema, file: string): void {
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
}
