/** Schema versions: what the tables of a file have to be, and the steps that bring an older file there. */
import type { Database } from "better-sqlite3";
import { LilyError } from "#src/kernel/errors.ts";

/** Brings a database from one version to the next. Runs in a transaction. */
export type Migration = (db: Database) => void;

/** The tables of one kind of file. */
export interface DatabaseSchema {
  /** Marks the file as ours, in SQLite's header. */
  readonly applicationId: number;
  /** Step n leads from version n to n + 1. Steps are added, never changed. */
  readonly migrations: readonly Migration[];
}

/**
 * Runs the steps that `db` has not had, each in a transaction of its own. Programs that do so at once take turns.
 *
 * @throws {LilyError} `storage_newer` or `storage_failed`, before anything is written.
 */
export function migrate(db: Database, schema: DatabaseSchema): void {
  while (readVersion(db, schema) < schema.migrations.length) {
    db.transaction(() => step(db, schema)).immediate();
  }
}

function step(db: Database, schema: DatabaseSchema): void {
  const version = readVersion(db, schema);
  schema.migrations[version]?.(db);
  db.pragma(`application_id = ${schema.applicationId}`);
  db.pragma(`user_version = ${Math.min(version + 1, schema.migrations.length)}`);
}

function readVersion(db: Database, schema: DatabaseSchema): number {
  const version = Number(db.pragma("user_version", { simple: true }));
  assertVersion(
    { version, applicationId: Number(db.pragma("application_id", { simple: true })) },
    schema,
    db.name,
  );
  return version;
}

/** What the header of a database says of who made it. */
export interface FileVersion {
  readonly version: number;
  readonly applicationId: number;
}

/** @throws {LilyError} `storage_newer` for a version beyond ours, `storage_failed` for another program's file. */
export function assertVersion(found: FileVersion, schema: DatabaseSchema, file: string): void {
  if (found.applicationId !== 0 && found.applicationId !== schema.applicationId) {
    throw new LilyError("storage_failed", `${file} is the database of another program`, {
      next: "The file is left as it is; choose another path.",
    });
  }
  if (found.version > schema.migrations.length) {
    const versions = `version ${found.version}; this program knows ${schema.migrations.length}`;
    throw new LilyError("storage_newer", `${file} was written by a newer program (${versions})`, {
      next: "The file is left as it is; update the program.",
    });
  }
}
