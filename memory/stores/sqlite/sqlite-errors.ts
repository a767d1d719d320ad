/** What SQLite reports, as errors of this program that say which file is meant and what can be done. */
import { isLilyError, LilyError, type ErrorCode } from "#src/kernel/errors.ts";

interface Explanation {
  readonly code: ErrorCode;
  readonly fact: string;
  readonly next: string;
}

const BUSY: Explanation = {
  code: "storage_busy",
  fact: "is being written by another process",
  next: "Try again in a moment.",
};

const DAMAGED: Explanation = {
  code: "storage_damaged",
  fact: "is damaged or not a database; it is kept as it is",
  next: "Run lily doctor. lily restore <folder> puts a backup in its place and keeps this file.",
};

const READONLY: Explanation = {
  code: "storage_readonly",
  fact: "cannot be opened or written",
  next: "Check that the file and its folder exist and belong to you.",
};

const READONLY_SYSTEM: Explanation = {
  ...READONLY,
  next: "The file system is mounted read-only: mount it for writing, or copy the folder elsewhere.",
};

const FULL: Explanation = {
  code: "storage_full",
  fact: "could not grow because the disk or its limit is full; nothing of the write was kept",
  next: "Free some space and try again.",
};

const FAILED: Explanation = {
  code: "storage_failed",
  fact: "could not be used",
  next: "The cause names what SQLite reported; nothing of the write was kept.",
};

// Primary result codes; extended ones such as SQLITE_BUSY_SNAPSHOT begin with them.
const EXPLANATIONS: readonly (readonly [prefix: string, explanation: Explanation])[] = [
  ["SQLITE_BUSY", BUSY],
  ["SQLITE_LOCKED", BUSY],
  ["SQLITE_CORRUPT", DAMAGED],
  ["SQLITE_NOTADB", DAMAGED],
  ["SQLITE_FULL", FULL],
  // The file that connections share could not grow.
  ["SQLITE_IOERR_SHMSIZE", FULL],
  ["SQLITE_READONLY", READONLY],
  ["SQLITE_CANTOPEN", READONLY],
  ["SQLITE_PERM", READONLY],
  ["SQLITE_AUTH", READONLY],
  ["EACCES", READONLY],
  ["EPERM", READONLY],
  ["EROFS", READONLY_SYSTEM],
  ["ENOTDIR", READONLY],
  ["ENOENT", READONLY],
  ["ENOSPC", FULL],
  ["EDQUOT", FULL],
];

/** Whether `error` only says that another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== undefined && (code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED"));
}

/** Whether `error` says that a page or an index does not hold what it should. */
export function isDamage(error: unknown): boolean {
  return sqliteCode(error)?.startsWith("SQLITE_CORRUPT") === true;
}

/**
 * The error to throw for something that failed on the database in `file`. SQLite's and the file system's errors become
 * `storage_…` with the original as cause; a `LilyError` and whatever else is thrown stay what they are.
 */
export function toStorageError(error: unknown, file: string): unknown {
  if (isLilyError(error)) return error;
  const code = sqliteCode(error) ?? fileCode(error);
  if (code === undefined || !(error instanceof Error)) return error;
  const { code: lilyCode, fact, next } = explain(code);
  const detail = error.message.startsWith(code) ? error.message : `${code}: ${error.message}`;
  return new LilyError(lilyCode, `the database ${file} ${fact} (${detail})`, {
    next,
    cause: error,
  });
}

function explain(code: string): Explanation {
  return EXPLANATIONS.find(([prefix]) => code.startsWith(prefix))?.[1] ?? FAILED;
}

// By the code, not by class: another copy of better-sqlite3 has another class, and a busy checkpoint is no exception there.
function sqliteCode(error: unknown): string | undefined {
  const code = codeOf(error);
  return code?.startsWith("SQLITE_") === true ? code : undefined;
}

function fileCode(error: unknown): string | undefined {
  return error instanceof Error && "syscall" in error ? codeOf(error) : undefined;
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
