/** What PostgreSQL and the network report, as errors of this program that name the server and what can be done. */
import { isLilyError, LilyError, type ErrorCode } from "#src/kernel/errors.ts";

interface Explanation {
  readonly code: ErrorCode;
  readonly fact: string;
  readonly next: string;
}

const UNREACHABLE: Explanation = {
  code: "storage_failed",
  fact: "cannot be reached",
  next: "Check that the server runs and that host and port are right.",
};

const REFUSED: Explanation = {
  code: "storage_failed",
  fact: "does not let this program in",
  next: "Check user, password, database and the rights on its schema.",
};

const CUT_OFF: Explanation = {
  code: "storage_failed",
  fact: "ended the connection",
  next: "Try again; what was being written was either kept whole or not at all.",
};

const BUSY: Explanation = {
  code: "storage_busy",
  fact: "is too busy",
  next: "Try again in a moment.",
};

const FULL: Explanation = {
  code: "storage_full",
  fact: "could not grow because its disk is full; nothing of the write was kept",
  next: "Free some space on the server and try again.",
};

const READONLY: Explanation = {
  code: "storage_readonly",
  fact: "takes no writes",
  next: "Connect to the primary server.",
};

const DAMAGED: Explanation = {
  code: "storage_damaged",
  fact: "reports damaged data",
  next: "Stop writing to it and restore a backup.",
};

const FAILED: Explanation = {
  code: "storage_failed",
  fact: "could not do what it was asked",
  next: "The cause names what PostgreSQL reported; nothing of the write was kept.",
};

// SQLSTATEs and their classes, and the codes of the operating system; the first that fits counts.
const EXPLANATIONS: readonly (readonly [prefix: string, explanation: Explanation])[] = [
  ["53100", FULL],
  ["53", BUSY],
  ["40", BUSY],
  ["55P03", BUSY],
  ["57P03", BUSY],
  ["57P", CUT_OFF],
  ["57014", BUSY],
  ["08", CUT_OFF],
  ["28", REFUSED],
  ["3D000", REFUSED],
  ["42501", REFUSED],
  ["25006", READONLY],
  ["XX001", DAMAGED],
  ["XX002", DAMAGED],
  ["ECONNRESET", CUT_OFF],
  ["EPIPE", CUT_OFF],
  ["E", UNREACHABLE],
];

// The client's own errors have no code.
const CLIENT_ERRORS: readonly (readonly [pattern: RegExp, explanation: Explanation])[] = [
  [/timeout exceeded when trying to connect|timeout expired/u, UNREACHABLE],
  [/^Connection terminated|connection error and is not queryable|Client was closed/u, CUT_OFF],
  [/Query read timeout/u, BUSY],
  [/^Cannot use a pool after calling end/u, FAILED],
  [/SASL|password|SSL/u, REFUSED],
];

const MOST_ATTEMPTS = 5;

/**
 * The error to throw for something that failed on `server`, which is named without a password. Errors of PostgreSQL
 * and of the connection become `storage_…` with the original as cause; whatever else is thrown stays what it is.
 */
export function toPostgresError(error: unknown, server: string): unknown {
  if (isLilyError(error) || !(error instanceof Error)) return error;
  const explanation = explain(error);
  if (explanation === undefined) return error;
  const code = codeOf(error);
  const detail = [code, error.message].filter((part) => part !== undefined && part !== "").join(": ");
  return new LilyError(explanation.code, `the database ${server} ${explanation.fact} (${detail})`, {
    next: explanation.next,
    cause: error,
  });
}

/** Runs `work`; its errors are those of {@link toPostgresError}. */
export async function withServer<T>(server: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toPostgresError(error, server);
  }
}

/**
 * Runs `work` again when PostgreSQL ended it in favour of another transaction. `work` has to leave nothing half done
 * when it throws, as a transaction does; the server has made it wait by then, so it is tried again at once.
 */
export async function retryConflicts<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= MOST_ATTEMPTS || !isConflict(error)) throw error;
    }
  }
}

/** Serialization failure and deadlock: the transaction was rolled back and may be tried again. */
function isConflict(error: unknown): boolean {
  const code = codeOf(error);
  return code === "40001" || code === "40P01";
}

function explain(error: Error): Explanation | undefined {
  const code = codeOf(error);
  if (code === undefined) return CLIENT_ERRORS.find(([pattern]) => pattern.test(error.message))?.[1];
  const known = EXPLANATIONS.find(([prefix]) => code.startsWith(prefix))?.[1];
  if (known !== undefined && (isSqlState(code) || isSystemCode(code))) return known;
  return isSqlState(code) ? FAILED : undefined;
}

function isSqlState(code: string): boolean {
  return /^[0-9A-Z]{5}$/u.test(code) && !/^E[A-Z]{4}$/u.test(code);
}

// Node's own errors (ERR_…) are mistakes of a program, not of a server.
function isSystemCode(code: string): boolean {
  return /^E[A-Z]/u.test(code) && !code.startsWith("ERR_");
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
