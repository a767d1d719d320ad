/** Waits for another connection's lock on a SQLite file without blocking the event loop. */
import { setTimeout as sleep } from "node:timers/promises";
import { isBusy, toStorageError } from "#memory/stores/sqlite/sqlite-errors.ts";

/** How {@link retryBusy} waits. */
export interface RetryBusyOptions {
  /** The file, for messages. */
  readonly file: string;
  /** Longest time spent in pauses, in milliseconds, before `storage_busy`. */
  readonly deadlineMs?: number;
}

const FIRST_PAUSE_MS = 4;
const LONGEST_PAUSE_MS = 200;

/**
 * Runs `work` again while the file is locked, after pauses that double and vary by half. `work` may be asynchronous
 * and leaves nothing half done when it throws, as a transaction does.
 *
 * @throws {LilyError} `storage_busy` at the deadline (10 s by default); another `storage_…` code for every other error
 *   of SQLite; what is not an error of SQLite is thrown as it is
 */
export async function retryBusy<T>(work: () => T | Promise<T>, options: RetryBusyOptions): Promise<T> {
  const { file, deadlineMs = 10_000 } = options;
  let waitedMs = 0;
  for (let limitMs = FIRST_PAUSE_MS; ; limitMs = Math.min(limitMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error) || waitedMs >= deadlineMs) throw toStorageError(error, file);
    }
    const pauseMs = limitMs * (0.5 + Math.random() / 2);
    waitedMs += pauseMs;
    await sleep(pauseMs);
  }
}
