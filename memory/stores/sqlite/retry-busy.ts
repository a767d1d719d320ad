/** Waiting for another connection's lock without blocking the event loop. */
import { setTimeout as sleep } from "node:timers/promises";
import { BUSY_TIMEOUT_MS } from "./open-database.ts";
import { isBusy, toStorageError } from "./sqlite-errors.ts";

/** How long and how {@link retryBusy} waits. */
export interface RetryOptions {
  /** The file, for error messages. */
  readonly file: string;
  /** Longest wait in milliseconds, SQLite's own waits included, before `storage_busy`. */
  readonly deadlineMs?: number;
  /** Source of jitter in [0, 1). */
  readonly random?: () => number;
}

const FIRST_DELAY_MS = 4;
const LONGEST_DELAY_MS = 250;

/**
 * Runs `work` again, after pauses that double and vary, for as long as SQLite says that the file is locked. `work` has
 * to leave nothing half done when it throws, as a transaction does.
 *
 * @throws {LilyError} `storage_busy` at the deadline; the fitting storage error for every other error of SQLite.
 */
export function retryBusy<T>(work: () => T | Promise<T>, options: RetryOptions): Promise<T> {
  try {
    // Nearly all work is done at once, by the first attempt: a turn does a lot of it.
    const done = work();
    return done instanceof Promise
      ? done.catch((error: unknown) => retry(work, options, error))
      : Promise.resolve(done);
  } catch (error) {
    return retry(work, options, error);
  }
}

/** After an attempt that failed. */
async function retry<T>(work: () => T | Promise<T>, options: RetryOptions, first: unknown): Promise<T> {
  const { file, deadlineMs = 10_000, random = Math.random } = options;
  let waitedMs = 0;
  let error = first;
  for (let attempt = 0; ; attempt += 1) {
    if (!isBusy(error) || waitedMs >= deadlineMs) throw toStorageError(error, file);
    const delayMs = Math.min(FIRST_DELAY_MS * 2 ** attempt, LONGEST_DELAY_MS) * (0.5 + random() / 2);
    await sleep(delayMs);
    waitedMs += BUSY_TIMEOUT_MS + delayMs;
    try {
      return await work();
    } catch (next) {
      error = next;
    }
  }
}
