/** Puts a backup in place of what a home folder holds. Whenever it is cut off, what was there or what comes is whole. */
import { existsSync, rmSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { assertNotNewer } from "#memory/stores/sqlite/file-version.ts";
import { makeFolder } from "#memory/stores/sqlite/make-folder.ts";
import { STORE_SCHEMA } from "#memory/stores/sqlite/store-schema.ts";
import { toInstant, type Clock } from "#src/kernel/clock.ts";
import { counted } from "./check.ts";
import { holdDatabases } from "./hold-databases.ts";
import { listHomeFiles, STAGING } from "./home-files.ts";
import { stampOf, type DatabasePaths, type Home, type Progress } from "./home.ts";
import { HOME_FILES, invalid, readManifest, type Manifest } from "./manifest.ts";
import { replace, replaceDatabases, type AfterStep } from "./put-in-place.ts";
import { readMarker, removeMarker, writeMarker } from "./restore-marker.ts";
import { planRestore, type RestorePlan } from "./restore-plan.ts";
import { copyWhole, factsOf, fileError, isMissing, type FileFacts } from "./whole-file.ts";

/** What a restore is given. */
export interface RestoreRequest {
  /** The backup. */
  readonly folder: string;
  /** The home folder with the databases that it has now; it need not exist. */
  readonly home: Home;
  /** Where the databases of `home` are by the configuration in `configFolder`. */
  readonly databasesBy: (configFolder: string) => DatabasePaths;
  readonly clock: Clock;
  readonly onProgress?: Progress;
  /** For tests that stop half way. */
  readonly afterStep?: AfterStep;
}

/** A restore that was done. */
export interface RestoreReport {
  readonly manifest: Manifest;
  readonly databases: DatabasePaths;
  /** What was there before, under its new names. */
  readonly aside: readonly string[];
  /** Whether the checkpoints are those of the backup; else another process had made new ones already. */
  readonly checkpointsPut: boolean;
}

/**
 * Restores. Every file is checked against the manifest and copied before anything is touched. Does not overwrite: what
 * was there is kept beside it.
 *
 * @throws {LilyError} `backup_invalid`, `storage_newer`, `storage_busy`, `config_invalid`; then nothing was changed
 */
export async function restore(request: RestoreRequest): Promise<RestoreReport> {
  const { home, clock, folder } = request;
  const manifest = readManifest(folder);
  await checkFiles(folder, manifest);
  request.onProgress?.(`Checked ${counted(manifest.files.length, "file")} of the backup.`);
  const targets = request.databasesBy(join(folder, HOME_FILES));
  makeHomeFolder(home.folder);
  // Those of the configuration that is there now, and of the one that comes.
  const databases = [
    ...new Set([home.databases, targets].flatMap(({ checkpoints, store }) => [checkpoints, store])),
  ];
  const held = holdDatabases(databases, clock);
  try {
    dropStaged(readMarker(home.folder)?.staged ?? []);
    const present = listHomeFiles(home.folder, databases).map(({ path }) => path);
    const stamp = stampOf(clock.now());
    const plan = planRestore({ home, manifest, targets, present, stamp });
    return { manifest, databases: targets, ...(await carryOut(request, plan)) };
  } finally {
    held.release();
  }
}

function makeHomeFolder(folder: string): void {
  try {
    makeFolder(folder);
  } catch (error) {
    throw fileError(error, `the folder ${folder} could not be made`);
  }
}

async function checkFiles(folder: string, manifest: Manifest): Promise<void> {
  for (const { path, role, ...expected } of manifest.files) {
    const full = join(folder, path);
    const found = await readFacts(full);
    if (!isSame(found, expected)) throw invalid(`${full} is not the file that was backed up`);
    if (role === "store") assertNotNewer(full, STORE_SCHEMA);
  }
}

async function readFacts(path: string): Promise<FileFacts> {
  try {
    return await factsOf(path);
  } catch (error) {
    throw isMissing(error) ? invalid(`${path} is missing in the backup`) : fileError(error, path);
  }
}

function isSame(found: FileFacts, expected: FileFacts): boolean {
  return found.bytes === expected.bytes && found.sha256 === expected.sha256;
}

async function carryOut(
  request: RestoreRequest,
  plan: RestorePlan,
): Promise<Pick<RestoreReport, "aside" | "checkpointsPut">> {
  const { home, folder, clock, onProgress, afterStep = () => undefined } = request;
  writeMarker(home.folder, {
    backup: resolve(folder),
    startedAt: toInstant(clock.now()),
    staged: [...plan.staged],
  });
  afterStep("marker");
  try {
    await stage(folder, plan);
  } catch (error) {
    dropStaged(plan.staged);
    removeMarker(home.folder);
    throw fileError(error, `the backup ${folder} could not be copied`);
  }
  onProgress?.("Copied them beside the present files; now they change places.");
  afterStep("staged");
  const checkpointsPut = replaceDatabases(plan.databases, afterStep);
  for (const file of plan.files) {
    replace(file);
    afterStep(file.target);
  }
  dropStaged(plan.staged);
  removeMarker(home.folder);
  const aside = [...Object.values(plan.databases), ...plan.files].map((replacement) => replacement.aside);
  return { aside: aside.filter((path) => existsSync(path)), checkpointsPut };
}

async function stage(folder: string, plan: RestorePlan): Promise<void> {
  for (const { file, to } of plan.copies) {
    const source = join(folder, file.path);
    const copied = await copyWhole(source, to, { executable: file.executable });
    if (!isSame(copied, file)) throw invalid(`${source} changed while it was copied`);
  }
}

/** Removes copies that were made for a restore; the originals are in the backup. Nothing of another name is removed. */
function dropStaged(paths: readonly string[]): void {
  for (const path of paths.filter((name) => basename(name).includes(STAGING)))
    rmSync(path, { recursive: true, force: true });
}
