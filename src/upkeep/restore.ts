/** Puts a backup in the place of a home folder: it is prepared beside it, then two renames change the two. */
import { existsSync, readdirSync, realpathSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { assertNotNewer } from "#memory/stores/sqlite/migrate.ts";
import { makeFolder } from "#memory/stores/sqlite/make-folder.ts";
import { STORE_SCHEMA } from "#memory/stores/sqlite/store-schema.ts";
import type { Clock } from "#src/kernel/clock.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { counted } from "#src/kernel/markdown.ts";
import { assertUnused } from "./database-file.ts";
import {
  ASIDE,
  BACKUPS,
  copyWhole,
  fileError,
  isMissing,
  STAGED,
  stampOf,
  syncPath,
  type DatabasePaths,
  type Home,
  type Progress,
} from "./home.ts";
import { HOME_FILES, invalid, readManifest, type Manifest, type ManifestFile } from "./manifest.ts";

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
  readonly afterStep?: (step: "staged" | "aside") => void;
}

export interface RestoreReport {
  readonly manifest: Manifest;
  readonly databases: DatabasePaths;
  /** The home folder as it was, under its new name; `null` where there was none. */
  readonly aside: string | null;
}

/**
 * Restores. The backup is copied beside the home folder and every byte checked before anything is touched; then the home
 * folder is renamed and the copy takes its name. Nothing is overwritten: what was there is kept.
 *
 * @throws {LilyError} `backup_invalid`, `storage_newer`, `storage_busy`, `config_invalid`; then nothing was changed
 */
export async function restore(request: RestoreRequest): Promise<RestoreReport> {
  const { folder, clock, onProgress, afterStep = () => undefined } = request;
  const manifest = readManifest(folder);
  const databases = request.databasesBy(join(folder, HOME_FILES));
  // A home that is a link stays where it leads to.
  const home = existsSync(request.home.folder) ? realpathSync(request.home.folder) : request.home.folder;
  const stamp = stampOf(clock.now());
  const staged = `${home}${STAGED}${stamp}`;
  const aside = existsSync(home) ? `${home}${ASIDE}${stamp}` : null;
  try {
    await stage(folder, staged, placesOf(manifest, request.home.folder, databases));
    onProgress?.(`Checked and copied ${counted(manifest.files.length, "file")} of the backup.`);
    for (const file of Object.values(request.home.databases)) assertUnused(file, clock);
    afterStep("staged");
    if (aside !== null) renameSync(home, aside);
  } catch (error) {
    rmSync(staged, { recursive: true, force: true });
    throw fileError(error, `the backup ${folder} could not be put in ${home}`);
  }
  afterStep("aside");
  renameSync(staged, home);
  if (aside !== null && existsSync(join(aside, BACKUPS)))
    renameSync(join(aside, BACKUPS), join(home, BACKUPS));
  syncPath(dirname(home));
  return { manifest, databases, aside };
}

/**
 * Refuses a home folder that is missing because a restore was cut off between its two renames: whoever went on would
 * begin an empty one in its place.
 *
 * @throws {LilyError} `storage_failed`, naming the two folders and the command that ends the restore
 */
export function assertNotCutOff(home: string): void {
  if (existsSync(home) || !existsSync(dirname(home))) return;
  const prefix = `${basename(home)}${STAGED}`;
  const stamp = readdirSync(dirname(home))
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length))
    .findLast((name) => existsSync(`${home}${ASIDE}${name}`));
  if (stamp === undefined) return;
  const [staged, aside] = [`${home}${STAGED}${stamp}`, `${home}${ASIDE}${stamp}`];
  throw new LilyError("storage_failed", `a restore was cut off when ${home} had been renamed to ${aside}`, {
    next: `mv "${staged}" "${home}" ends it; mv "${aside}" "${home}" takes it back.`,
  });
}

/** Where in the home folder each file of a backup goes. */
function placesOf(
  manifest: Manifest,
  home: string,
  databases: DatabasePaths,
): { readonly file: ManifestFile; readonly path: string }[] {
  return manifest.files.map((file) => {
    if (file.role === "file") return { file, path: file.path.slice(HOME_FILES.length + 1) };
    const path = relative(home, databases[file.role]);
    if (!path.startsWith("..")) return { file, path };
    throw new LilyError("config_invalid", `storage.${file.role} of the backup leads out of the home folder`, {
      next: "Nothing was changed; a restore replaces the home folder alone. Copy that file to its place by hand.",
    });
  });
}

async function stage(folder: string, staged: string, places: ReturnType<typeof placesOf>): Promise<void> {
  makeFolder(staged);
  for (const { file, path } of places) {
    const source = join(folder, file.path);
    try {
      const copied = await copyWhole(source, join(staged, path), file.executable);
      if (copied.bytes !== file.bytes || copied.sha256 !== file.sha256)
        throw invalid(`${source} is not the file that was backed up`);
    } catch (error) {
      throw isMissing(error) ? invalid(`${source} is missing in the backup`) : error;
    }
    if (file.role === "store") assertNotNewer(join(staged, path), STORE_SCHEMA);
  }
  syncPath(staged);
}
