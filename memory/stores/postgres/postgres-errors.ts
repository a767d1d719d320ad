/** What PostgreSQL and the network report, as errors of this program that name the server and what can be done. */
import { isLilyError, LilyError, type ErrorCode } from "#src/kernel/errors.ts";

type Explanation = readonly [code: ErrorCode, fact: string, next: string];

const UNREACHABLE: Explanation = [
  "storage_unreachable",
  "cannot be reached",
  "Check that the server runs and that host and port are right, then try again.",
];

const CUT_OFF: Explanation = [
  "storage_unreachable",
  "ended the connection",
  "Try again; what was being written was either kept whole or not at all.",
];

const REFUSED: Explanation = [
  "storage_failed",
  "does not let this program in",
  "Check user, password, database and the rights on its schema.",
];

const BUSY: Explanation = ["storage_busy", "is too busy", "Try again in a moment."];

const FULL: Explanation = [
  "storage_full",
  "could not grow because its disk is full; nothing of the write was kept",
  "Free some space on the server and try again.",
];

const READONLY: Explanation = ["storage_readonly", "takes no writes", "Connect to the primary server."];

const DAMAGED: Explanation = [
  "storage_damaged",
  "reports damaged data",
  "Stop writing to it and restore a backup.",
];

const FAILED: Explanation = [
  "storage_failed",
  "could not do what it was asked",
  "The cause names what PostgreSQL reported; nothing of the write was kept.",
];

// SQLSTATEs and their classes, and the codes of the operating system, by their beginning; the first that fits counts.
const BY_CODE: readonly (readonly [codes: RegExp, explanation: Explanation])[] = [
  [/^53100$/u, FULL],
  [/^(?:53...|40...|55P03|57P03|57014)$/u, BUSY],
  [/^(?:57P..|08...|ECONNRESET|EPIPE)$/u, CUT_OFF],
  [/^(?:28...|3D000|42501)$/u, REFUSED],
  [/^25006$/u, READONLY],
  [/^XX00[12]$/u, DAMAGED],
  // Node's own errors (ERR_…) are mistakes of a program, not of a server.
  [/^E(?!RR_)[A-Z]{3,}/u, UNREACHABLE],
  [/^[0-9A-Z]{5}$/u, FAILED],
];

// The client's own errors have no code.
const BY_MESSAGE: readonly (readonly [messages: RegExp, explanation: Explanation])[] = [
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
  const code = codeOf(error);
  const table = code === undefined ? BY_MESSAGE : BY_CODE;
  const found = table.find(([pattern]) => pattern.test(code ?? error.message));
  if (found === undefined) return error;
  const [errorCode, fact, next] = found[1];
  const detail = [code, error.message].filter((part) => part !== undefined && part !== "").join(": ");
  return new LilyError(errorCode, `the database ${server} ${fact} (${detail})`, { next, cause: error });
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
      // Serialization failure and deadlock: the transaction was rolled back and may be tried again.
      const isConflict = ["40001", "40P01"].includes(codeOf(error) ?? "");
      if (attempt >= MOST_ATTEMPTS || !isConflict) throw error;
    }
  }
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
