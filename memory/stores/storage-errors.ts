/** What databases, the network and the file system report, as errors that name the database and what can be done; and trying again. */
import pRetry from "p-retry";
import { isLilyError, LilyError, type ErrorCode } from "#src/kernel/errors.ts";
import { joined } from "#src/kernel/markdown.ts";

type Explanation = readonly [pattern: RegExp, code: ErrorCode, fact: string, next: string];

const SQLITE_CODES: readonly Explanation[] = [
  // Extended codes such as SQLITE_BUSY_SNAPSHOT begin with the primary one.
  [
    /^SQLITE_(?:BUSY|LOCKED)/u,
    "storage_busy",
    "is being written by another process",
    "Try again in a moment.",
  ],
  [
    /^SQLITE_(?:CORRUPT|NOTADB)/u,
    "storage_damaged",
    "is damaged or not a database; it is kept as it is",
    "Run lily doctor. lily restore <folder> puts a backup in its place and keeps this file.",
  ],
  [
    // SHMSIZE: the file that connections share could not grow.
    /^(?:SQLITE_FULL|SQLITE_IOERR_SHMSIZE|ENOSPC$|EDQUOT$)/u,
    "storage_full",
    "could not grow because the disk or its limit is full; nothing of the write was kept",
    "Free some space and try again.",
  ],
  [
    /^EROFS$/u,
    "storage_readonly",
    "cannot be opened or written",
    "The file system is mounted read-only: mount it for writing, or copy the folder elsewhere.",
  ],
  [
    /^(?:SQLITE_(?:READONLY|CANTOPEN|PERM|AUTH)|(?:EACCES|EPERM|ENOTDIR|ENOENT)$)/u,
    "storage_readonly",
    "cannot be opened or written",
    "Check that the file and its folder exist and belong to you.",
  ],
  [
    // Node's own errors (ERR_…) are mistakes of a program.
    /^(?:SQLITE_|E(?!RR_)[A-Z]+$)/u,
    "storage_failed",
    "could not be used",
    "The cause names what SQLite reported; nothing of the write was kept.",
  ],
];

// SQLSTATEs and their classes, the codes of the operating system, and what the client says in errors that have no code; the
// first that fits counts.
const POSTGRES_CODES: readonly Explanation[] = [
  [
    /^53100$/u,
    "storage_full",
    "could not grow because its disk is full; nothing of the write was kept",
    "Free some space on the server and try again.",
  ],
  [
    /^(?:53...|40...|55P03|57P03|57014)$|Query read timeout/u,
    "storage_busy",
    "is too busy",
    "Try again in a moment.",
  ],
  [
    /^(?:57P..|08...|ECONNRESET|EPIPE)$|^Connection terminated|connection error and is not queryable|Client was closed/u,
    "storage_unreachable",
    "ended the connection",
    "Try again; what was being written was either kept whole or not at all.",
  ],
  [
    /^(?:28...|3D000|42501)$|SASL|password|SSL/u,
    "storage_failed",
    "does not let this program in",
    "Check user, password, database and the rights on its schema.",
  ],
  [/^25006$/u, "storage_readonly", "takes no writes", "Connect to the primary server."],
  [/^XX00[12]$/u, "storage_damaged", "reports damaged data", "Stop writing to it and restore a backup."],
  [
    /^E(?!RR_)[A-Z_]{3,}$|timeout exceeded when trying to connect|timeout expired/u,
    "storage_unreachable",
    "cannot be reached",
    "Check that the server runs and that host and port are right, then try again.",
  ],
  [
    /^[0-9A-Z]{5}$|^Cannot use a pool after calling end/u,
    "storage_failed",
    "could not do what it was asked",
    "The cause names what PostgreSQL reported; nothing of the write was kept.",
  ],
];

/** Whether `error` only says that another connection holds the lock of a SQLite file. */
export function isBusy(error: unknown): boolean {
  return /^SQLITE_(?:BUSY|LOCKED)/u.test(codeOf(error) ?? "");
}

/** Whether `error` says that a page or an index of a SQLite file does not hold what it should. */
export function isDamage(error: unknown): boolean {
  return codeOf(error)?.startsWith("SQLITE_CORRUPT") === true;
}

/**
 * The error to throw for something that failed on the SQLite database in `file`. SQLite's and the file system's errors
 * become `storage_…` with the original as cause; a `LilyError` and whatever else is thrown stay what they are.
 */
export function toStorageError(error: unknown, file: string): unknown {
  return explained(error, file, SQLITE_CODES);
}

/** The same for PostgreSQL and the connection to it, on `server`, which is named without a password. */
export function toPostgresError(error: unknown, server: string): unknown {
  return explained(error, server, POSTGRES_CODES);
}

function explained(error: unknown, database: string, table: readonly Explanation[]): unknown {
  if (isLilyError(error) || !(error instanceof Error)) return error;
  const code = codeOf(error);
  const found = table.find(([pattern]) => pattern.test(code ?? error.message));
  if (found === undefined) return error;
  const [, lilyCode, fact, next] = found;
  const isNamed = code === undefined || error.message.startsWith(code);
  const detail = isNamed ? error.message : joined([code, error.message], ": ");
  return new LilyError(lilyCode, `the database ${database} ${fact} (${detail})`, { next, cause: error });
}

/** What errors are known by, not by class: another copy of better-sqlite3 has another class, and a busy checkpoint has none. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** How long {@link retryBusy} waits. */
export interface RetryOptions {
  /** The file, for error messages. */
  readonly file: string;
  /** Longest wait in milliseconds, SQLite's own waits included, before `storage_busy`; 10 s by default. */
  readonly deadlineMs?: number;
}

const FIRST_DELAY_MS = 4;
const LONGEST_DELAY_MS = 250;

/**
 * Runs `work` at once, and again, after pauses that grow and vary, for as long as SQLite says that the file is locked: the
 * event loop is not blocked meanwhile. `work` has to leave nothing half done when it throws, as a transaction does.
 *
 * @throws {LilyError} `storage_busy` at the deadline; the fitting storage error for every other error of SQLite.
 */
export async function retryBusy<T>(
  work: () => T | Promise<T>,
  { file, deadlineMs = 10_000 }: RetryOptions,
): Promise<T> {
  try {
    // Nearly all work is done by the first attempt, and a turn does a lot of it.
    return await work();
  } catch (error) {
    if (!isBusy(error)) throw toStorageError(error, file);
  }
  try {
    return await pRetry(work, {
      retries: Infinity,
      minTimeout: FIRST_DELAY_MS,
      maxTimeout: LONGEST_DELAY_MS,
      maxRetryTime: deadlineMs,
      randomize: true,
      shouldRetry: ({ error }) => isBusy(error),
    });
  } catch (error) {
    throw toStorageError(error, file);
  }
}
