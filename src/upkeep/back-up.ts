/** Makes a backup: a folder with everything that a home folder needs to be as it was, and a manifest of it. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeFolder } from "#memory/stores/sqlite/make-folder.ts";
import { STORE_SCHEMA } from "#memory/stores/sqlite/store-schema.ts";
import { toInstant, type Clock } from "#src/kernel/clock.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { counted } from "./check.ts";
import { copyDatabase } from "./copy-database.ts";
import { listHomeFiles, type HomeFile } from "./home-files.ts";
import type { Home, Progress } from "./home.ts";
import { createManifest, HOME_FILES, MANIFEST, type Manifest, type ManifestFile } from "./manifest.ts";
import { sizeText } from "./size-text.ts";
import { copyWhole, factsOf, fileError, FOLDER_MODE, isMissing, syncPath } from "./whole-file.ts";

/** What a backup is made of. */
export interface BackupRequest {
  readonly home: Home;
  /** Folder to make; it must not exist. */
  readonly folder: string;
  /** Version of the program. */
  readonly program: string;
  readonly clock: Clock;
  readonly onProgress?: Progress;
}

/** A backup that was made. */
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
  makeNewFolder(folder);
  try {
    const madeAt = toInstant(clock.now());
    const files = [...(await copyDatabases(request)), ...(await copyFiles(request))];
    const manifest = createManifest({ program, madeAt, files });
    writeManifest(folder, manifest);
    return { folder, manifest, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw fileError(error, `the backup ${folder} could not be written`);
  }
}

function makeNewFolder(folder: string): void {
  try {
    makeFolder(dirname(folder));
    mkdirSync(folder, { mode: FOLDER_MODE });
  } catch (error) {
    if (!existsSync(folder)) throw fileError(error, `the backup ${folder} could not be written`);
    throw new LilyError("backup_exists", `${folder} exists already; a backup overwrites nothing`, {
      next: "Name a folder that does not exist.",
    });
  }
}

async function copyDatabases(request: BackupRequest): Promise<ManifestFile[]> {
  const { databases } = request.home;
  const copied: ManifestFile[] = [];
  for (const role of ["checkpoints", "store"] as const) {
    if (!existsSync(databases[role])) continue;
    const path = `${role}.sqlite`;
    const target = join(request.folder, path);
    await copyDatabase(databases[role], target, role === "store" ? { schema: STORE_SCHEMA } : {});
    const facts = await factsOf(target);
    request.onProgress?.(`Copied and checked the ${role}, ${sizeText(facts.bytes)}.`);
    copied.push({ path, role, ...facts });
  }
  return copied;
}

async function copyFiles({ home, folder, onProgress }: BackupRequest): Promise<ManifestFile[]> {
  const copied: ManifestFile[] = [];
  for (const file of listHomeFiles(home.folder, Object.values(home.databases))) {
    const made = await copyFile(home, folder, file);
    if (made !== undefined) copied.push(made);
  }
  if (copied.length > 0) onProgress?.(`Copied ${counted(copied.length, "other file")}.`);
  return copied;
}

async function copyFile(home: Home, folder: string, file: HomeFile): Promise<ManifestFile | undefined> {
  const path = `${HOME_FILES}/${file.path}`;
  const { executable } = file;
  try {
    const facts = await copyWhole(join(home.folder, file.path), join(folder, path), { executable });
    return { path, role: "file", ...facts, ...(executable ? { executable } : {}) };
  } catch (error) {
    if (!isMissing(error)) throw error;
    // It went away since the folder was listed: then it is no part of this moment.
    rmSync(join(folder, path), { force: true });
    return undefined;
  }
}

function writeManifest(folder: string, manifest: Manifest): void {
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  // Last: a folder with a manifest is whole. Its hashes tell of one that was cut off while this was written.
  writeFileSync(join(folder, MANIFEST), text, { mode: 0o600, flag: "wx", flush: true });
  syncPath(folder);
}
