/** Decides what a restore replaces, and by what: after it the home folder is what it was. Pure. */
import { join } from "node:path";
import { ASIDE, STAGING } from "./home-files.ts";
import type { DatabasePaths, Home } from "./home.ts";
import { HOME_FILES, type Manifest, type ManifestFile } from "./manifest.ts";
import type { Replacement } from "./put-in-place.ts";

/** A copy to make before anything is touched. */
export interface StagedFile {
  readonly file: ManifestFile;
  readonly to: string;
}

/** What a restore will do. */
export interface RestorePlan {
  readonly copies: readonly StagedFile[];
  /** What can be removed when all is in place, or when the restore was cut off. */
  readonly staged: readonly string[];
  readonly databases: { readonly checkpoints: Replacement; readonly store: Replacement };
  /** In the order in which they are replaced; the configuration is the last. */
  readonly files: readonly Replacement[];
}

/** What the plan is made of. */
export interface RestoreFacts {
  readonly home: Home;
  readonly manifest: Manifest;
  /** Where the databases go by the configuration of the backup. */
  readonly targets: DatabasePaths;
  /** Files of the home folder as it is now. */
  readonly present: readonly string[];
  /** Makes names unique. */
  readonly stamp: string;
}

/**
 * A folder at the top of the home folder is replaced as a whole, so that nothing of its own is left between what is put
 * back. One that holds a database is not: it is replaced file by file.
 */
export function planRestore(facts: RestoreFacts): RestorePlan {
  const { home, manifest, targets, stamp } = facts;
  const stagingFolder = join(home.folder, `${STAGING}${stamp}`);
  const restored = manifest.files.filter(({ role }) => role === "file");
  const database = (role: keyof DatabasePaths): Replacement => ({
    target: targets[role],
    staged: manifest.files.some((file) => file.role === role) ? `${targets[role]}${STAGING}${stamp}` : null,
    aside: `${targets[role]}${ASIDE}${stamp}`,
  });
  const databases = { checkpoints: database("checkpoints"), store: database("store") };
  const copies = manifest.files.map((file) => ({
    file,
    to:
      file.role === "file"
        ? join(stagingFolder, pathInHome(file))
        : `${targets[file.role]}${STAGING}${stamp}`,
  }));
  const stagedDatabases = Object.values(databases).flatMap(({ staged }) => (staged === null ? [] : [staged]));
  return {
    copies,
    staged: [stagingFolder, ...stagedDatabases],
    databases,
    files: planFiles(facts, { restored: restored.map(pathInHome), stagingFolder }),
  };
}

function planFiles(
  { home, targets, present, stamp }: RestoreFacts,
  { restored, stagingFolder }: { readonly restored: readonly string[]; readonly stagingFolder: string },
): Replacement[] {
  const kept = [home.databases, targets].flatMap(({ checkpoints, store }) => [checkpoints, store]);
  const unitOf = (path: string): string => {
    const [top = path] = path.split("/");
    return kept.some((file) => file.startsWith(`${join(home.folder, top)}/`)) ? path : top;
  };
  const back = new Set(restored.map(unitOf));
  const units = [...new Set([...present.map(unitOf), ...back])].sort(configurationLast);
  return units.map((unit) => ({
    target: join(home.folder, unit),
    staged: back.has(unit) ? join(stagingFolder, unit) : null,
    aside: `${join(home.folder, unit)}${ASIDE}${stamp}`,
  }));
}

const CONFIGURATION = "config.json";

// It says where the databases are: until it is in place, the files that the old one names are the ones that count.
function configurationLast(a: string, b: string): number {
  if (a === CONFIGURATION || b === CONFIGURATION)
    return Number(a === CONFIGURATION) - Number(b === CONFIGURATION);
  return a < b ? -1 : 1;
}

function pathInHome({ path }: ManifestFile): string {
  return path.slice(HOME_FILES.length + 1);
}
