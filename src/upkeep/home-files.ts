/** Which files of a home folder belong to it, beside its databases: everything that is neither cache nor leftover. */
import { readdirSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { SIDE_FILES } from "./home.ts";
import { isBackup } from "./manifest.ts";

/** A file of a home folder. */
export interface HomeFile {
  /** Relative to the home folder, with "/" between folders. */
  readonly path: string;
  readonly executable: boolean;
}

/** What a restore leaves beside the files it replaced. */
export const ASIDE = ".before-restore-";

/** Names of what is being put in place; also of the marker. */
export const STAGING = ".restore-";

/** Where backups go by default. */
export const BACKUPS = "backups";

const LEFT_OUT_AT_THE_TOP = new Set([BACKUPS, "cache", ".cache", "tmp"]);

/** The files of `folder` but for `databases`, in order of their paths. Links are followed; backups are left out. */
export function listHomeFiles(folder: string, databases: readonly string[]): HomeFile[] {
  const own = new Set(databases.flatMap((file) => [file, ...SIDE_FILES.map((ending) => `${file}${ending}`)]));
  return walk({ root: folder, own }, "", []);
}

interface Walk {
  readonly root: string;
  /** Files that are copied in another way. */
  readonly own: ReadonlySet<string>;
}

function walk(context: Walk, path: string, parents: readonly string[]): HomeFile[] {
  const folder = join(context.root, path);
  const here = realpathSync(folder);
  // A link that leads back up would never end.
  if (parents.includes(here)) return [];
  const names = readdirSync(folder).sort();
  return names
    .filter((name) => !isLeftOut(name, path === ""))
    .flatMap((name) => visit(context, path === "" ? name : `${path}/${name}`, [...parents, here]));
}

function visit(context: Walk, path: string, parents: readonly string[]): HomeFile[] {
  const full = join(context.root, path);
  if (context.own.has(full)) return [];
  // A link that leads nowhere, or a file that went away just now.
  const stat = statSync(full, { throwIfNoEntry: false });
  if (stat?.isDirectory() === true) return isBackup(full) ? [] : walk(context, path, parents);
  return stat?.isFile() === true ? [{ path, executable: (stat.mode & 0o100) !== 0 }] : [];
}

function isLeftOut(name: string, isTop: boolean): boolean {
  if (isTop && LEFT_OUT_AT_THE_TOP.has(name)) return true;
  return name.endsWith(".tmp") || name.includes(ASIDE) || name.includes(STAGING);
}
