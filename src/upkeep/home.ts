/** A home folder as upkeep sees it: where its databases are, which other files belong to it, and how its files are copied. */
import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  createReadStream,
  fsyncSync,
  openSync,
  readdirSync,
  realpathSync,
  statSync,
} from "node:fs";
import { chmod, copyFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makeFolder } from "#memory/stores/sqlite/make-folder.ts";
import { errorMessage, LilyError, type ErrorCode } from "#src/kernel/errors.ts";
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
 * The files of a home folder but for its databases, caches, backups and what earlier restores left, by their paths in it with "/"
 * between folders, in order. Links are followed.
 */
export function listHomeFiles({ folder, databases }: Home): { path: string; executable: boolean }[] {
  const own = new Set(Object.values(databases).flatMap((file) => SIDE_FILES.map((end) => `${file}${end}`)));
  const walk = (path: string, parents: readonly string[]): { path: string; executable: boolean }[] => {
    const here = realpathSync(join(folder, path));
    // A link that leads back up would never end.
    if (parents.includes(here)) return [];
    return readdirSync(here)
      .filter((name) => !isLeftOut(name, path === ""))
      .sort()
      .flatMap((name) => {
        const inner = path === "" ? name : `${path}/${name}`;
        const full = join(folder, inner);
        if (own.has(full)) return [];
        // A link that leads nowhere, or a file that went away just now.
        const stat = statSync(full, { throwIfNoEntry: false });
        if (stat?.isDirectory() === true) return isBackup(full) ? [] : walk(inner, [...parents, here]);
        return stat?.isFile() === true ? [{ path: inner, executable: (stat.mode & 0o100) !== 0 }] : [];
      });
  };
  return walk("", []);
}

function isLeftOut(name: string, isTop: boolean): boolean {
  if (isTop && LEFT_OUT_AT_THE_TOP.has(name)) return true;
  return name.endsWith(".tmp") || name.includes(ASIDE) || name.includes(STAGED);
}

/** A file as it is on disk. */
export interface FileFacts {
  readonly bytes: number;
  /** Lower case hex. */
  readonly sha256: string;
}

/** Copies `source` to `target`, which must not exist, for its owner alone, and waits until it is on the disk. */
export async function copyWhole(source: string, target: string, executable = false): Promise<FileFacts> {
  makeFolder(dirname(target));
  await copyFile(source, target, constants.COPYFILE_EXCL);
  await chmod(target, executable ? 0o700 : 0o600);
  syncPath(target);
  return factsOf(target);
}

/** Size and hash of a file. */
export async function factsOf(path: string): Promise<FileFacts> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest("hex") };
}

/** Waits until a file, or the names in a folder, are on the disk itself. */
export function syncPath(path: string): void {
  const handle = openSync(path, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

type Told = readonly [code: ErrorCode, next: string];
const FULL: Told = ["storage_full", "Free some space and try again."];
const NOT_YOURS = "Check that the files and folders belong to you.";
const MOUNTED: Told = [
  "storage_failed",
  "A mounted folder cannot be renamed: set LILY_HOME to a folder inside or beside it.",
];

/** What became of a file by the code of the system's error, and what to do about it. */
const FILE_ERRORS = new Map<unknown, Told>([
  ["ENOSPC", FULL],
  ["EDQUOT", FULL],
  ["EACCES", ["storage_readonly", NOT_YOURS]],
  ["EPERM", ["storage_readonly", NOT_YOURS]],
  ["EROFS", ["storage_readonly", "The file system is read-only; name a folder elsewhere."]],
  ["EBUSY", MOUNTED],
  ["EXDEV", MOUNTED],
]);

/** The error to throw for a file that could not be read or written. */
export function fileError(error: unknown, what: string): unknown {
  if (!(error instanceof Error) || !("code" in error) || !("syscall" in error)) return error;
  const [code, next] = FILE_ERRORS.get(error.code) ?? ["storage_failed", NOT_YOURS];
  return new LilyError(code, `${what}: ${errorMessage(error)}`, { next, cause: error });
}

/** Whether `error` says that there is no such file. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
