/** A home folder as upkeep sees it: where its databases are, and which other files belong to it. */
import { readdirSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { isBackup } from "./manifest.ts";

/** The two database files of a home folder, as absolute paths. */
export interface DatabasePaths {
  readonly checkpoints: string;
  readonly store: string;
}

/** A home folder with the files of its SQLite backend. */
export interface Home {
  /** Absolute path. */
  readonly folder: string;
  readonly databases: DatabasePaths;
}

/** Told in plain words of each step that takes time. */
export type Progress = (step: string) => void;

/** A file of a home folder. */
export interface HomeFile {
  /** Relative to the home folder, with "/" between folders. */
  readonly path: string;
  readonly executable: boolean;
}

/** Where backups go by default. */
export const BACKUPS = "backups";

/** What a restore adds to the name of the folder that was there before. */
export const ASIDE = ".before-restore-";

/** What a restore adds to the name of the folder that it prepares. */
export const STAGED = ".restore-";

/** Endings of the files that SQLite keeps beside a database. */
const SIDE_FILES = ["", "-wal", "-shm", "-journal"];

const LEFT_OUT_AT_THE_TOP = new Set([BACKUPS, "cache", ".cache", "tmp"]);

/** An instant as part of a file name: no characters that a file system or a shell gives a meaning to. */
export function stampOf(epochMs: number): string {
  return new Date(epochMs).toISOString().replaceAll(/[-:]/gu, "").replace(".", "-");
}

/**
 * The files of a home folder but for its databases, caches, backups and what earlier restores left, in order of their
 * paths. Links are followed.
 */
export function listHomeFiles({ folder, databases }: Home): HomeFile[] {
  const own = new Set(Object.values(databases).flatMap((file) => SIDE_FILES.map((end) => `${file}${end}`)));
  const walk = (path: string, parents: readonly string[]): HomeFile[] => {
    const here = realpathSync(join(folder, path));
    // A link that leads back up would never end.
    if (parents.includes(here)) return [];
    return readdirSync(here)
      .filter((name) => !isLeftOut(name, path === ""))
      .sort()
      .flatMap((name) => visit(path === "" ? name : `${path}/${name}`, [...parents, here]));
  };
  const visit = (path: string, parents: readonly string[]): HomeFile[] => {
    const full = join(folder, path);
    if (own.has(full)) return [];
    // A link that leads nowhere, or a file that went away just now.
    const stat = statSync(full, { throwIfNoEntry: false });
    if (stat?.isDirectory() === true) return isBackup(full) ? [] : walk(path, parents);
    return stat?.isFile() === true ? [{ path, executable: (stat.mode & 0o100) !== 0 }] : [];
  };
  return walk("", []);
}

function isLeftOut(name: string, isTop: boolean): boolean {
  if (isTop && LEFT_OUT_AT_THE_TOP.has(name)) return true;
  return name.endsWith(".tmp") || name.includes(ASIDE) || name.includes(STAGED);
}
