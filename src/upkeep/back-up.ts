/** Makes a backup: a folder with everything that a home folder needs to be as it was, and a manifest of it. */
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { makeFolder } from "#memory/stores/sqlite/make-folder.ts";
import { retryBusy, toStorageError } from "#memory/stores/storage-errors.ts";
import { STORE_SCHEMA } from "#memory/stores/sqlite/store-schema.ts";
import { toInstant, type Clock } from "#src/kernel/clock.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { assertStoreNotLost } from "#src/storage/sqlite/sqlite-backend.ts";
import { counted } from "#src/kernel/markdown.ts";
import { sizeText } from "./check.ts";
import { damageIn, openReadOnly } from "./database-file.ts";
import {
  copyWhole,
  factsOf,
  fileError,
  isMissing,
  listHomeFiles,
  syncPath,
  type DatabasePaths,
  type Home,
  type Progress,
} from "./home.ts";
import { HOME_FILES, MANIFEST, VERSION, type Manifest, type ManifestFile } from "./manifest.ts";

export interface BackupRequest {
  readonly home: Home;
  /** Folder to make; it must not exist. */
  readonly folder: string;
  /** Version of the program. */
  readonly program: string;
  readonly clock: Clock;
  readonly onProgress?: Progress;
}

export interface BackupReport {
  readonly folder: string;
  readonly manifest: Manifest;
  readonly bytes: number;
}

/**
 * Makes the backup while others may write. The checkpoints are copied first: a checkpoint that is behind the transcript
 * is caught up by the next turn, one that is ahead of it would tell of turns that are not there.
 *
 * @throws {LilyError} `backup_exists`, or what the storage says of a file; then no folder is left
 */
export async function backUp(request: BackupRequest): Promise<BackupReport> {
  const { folder, clock, program } = request;
  const { store, checkpoints } = request.home.databases;
  assertStoreNotLost(store, checkpoints);
  makeNewFolder(folder);
  try {
    const madeAt = toInstant(clock.now());
    const files = [
      ...(await copyDatabase(request, "checkpoints")),
      ...(await copyDatabase(request, "store")),
      ...(await copyFiles(request)),
    ];
    const manifest: Manifest = { kind: "lily-backup", version: VERSION, program, madeAt, files };
    // Last: a folder with a manifest is whole. Its hashes tell of one that was cut off while this was written.
    const text = `${JSON.stringify(manifest, null, 2)}\n`;
    writeFileSync(join(folder, MANIFEST), text, { mode: 0o600, flag: "wx", flush: true });
    syncPath(folder);
    return { folder, manifest, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw fileError(error, `the backup ${folder} could not be written`);
  }
}

function makeNewFolder(folder: string): void {
  try {
    makeFolder(dirname(folder));
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (!existsSync(folder)) throw fileError(error, `the backup ${folder} could not be written`);
    throw new LilyError("backup_exists", `${folder} exists already; a backup overwrites nothing`, {
      next: "Name a folder that does not exist.",
    });
  }
}

/** Copies one database as it is at one moment, log included, and checks the copy. */
async function copyDatabase(
  { home, folder, onProgress }: BackupRequest,
  role: keyof DatabasePaths,
): Promise<ManifestFile[]> {
  const source = home.databases[role];
  if (!existsSync(source)) return [];
  const path = `${role}.sqlite`;
  const target = join(folder, path);
  try {
    const db = openReadOnly(source, role === "store" ? STORE_SCHEMA : undefined);
    try {
      db.exec("BEGIN");
      // The transaction begins with its first look. Without one, every write of another process would begin the copy anew.
      await retryBusy(() => db.prepare("SELECT count(*) FROM sqlite_schema").get(), { file: source });
      await db.backup(target);
    } finally {
      db.close();
    }
    chmodSync(target, 0o600);
    assertWhole(target, source);
    syncPath(target);
  } catch (error) {
    throw toStorageError(error, source);
  }
  const facts = await factsOf(target);
  onProgress?.(`Copied and checked the ${role}, ${sizeText(facts.bytes)}.`);
  return [{ path, role, ...facts }];
}

function assertWhole(copy: string, source: string): void {
  const db = new Database(copy, { fileMustExist: true });
  try {
    const [problem] = damageIn(db).pages;
    if (problem === undefined) return;
    throw new LilyError("storage_damaged", `the database ${source} is damaged (${problem})`, {
      next: "It was left as it is; restore an older backup with lily restore <folder>.",
    });
  } finally {
    db.close();
  }
}

async function copyFiles({ home, folder, onProgress }: BackupRequest): Promise<ManifestFile[]> {
  const copied: ManifestFile[] = [];
  for (const { path: file, executable } of listHomeFiles(home)) {
    const path = `${HOME_FILES}/${file}`;
    try {
      const facts = await copyWhole(join(home.folder, file), join(folder, path), executable);
      copied.push({ path, role: "file", ...facts, ...(executable ? { executable } : {}) });
    } catch (error) {
      if (!isMissing(error)) throw error;
      // It went away since the folder was listed: then it is no part of this moment.
      rmSync(join(folder, path), { force: true });
    }
  }
  if (copied.length > 0) onProgress?.(`Copied ${counted(copied.length, "other file")}.`);
  return copied;
}
