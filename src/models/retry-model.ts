/** Repeats a failed model call: bounded, at the server's pace, and never behind the back of who reads along. */
import pRetry from "p-retry";
import { classifyModelError, type ModelFailure } from "./model-errors.ts";
import type { Sleep } from "#src/kernel/clock.ts";

/** Three attempts ride out a restart or a short rate limit. */
export const MAX_ATTEMPTS = 3;

/** Wait before the second attempt; doubled before the third. */
const FIRST_WAIT_MS = 500;

/** What a person waits for an answer. A server that asks for more is not asked again. */
export const MAX_WAIT_MS = 30_000;

export interface RetryOptions {
  readonly sleep: Sleep;
  /** Ends the waiting; once it is aborted there is no further attempt. */
  readonly signal?: AbortSignal | undefined;
  /** Spreads the waits of many callers; from 0 to 1. Left out, the waits are whole. */
  readonly random?: (() => number) | undefined;
  /** Milliseconds that are left for waiting and asking again; asked after each failure. */
  readonly leftMs?: () => number;
  /** Told of each failed attempt, also of the last. */
  readonly onFailure?: (failure: ModelFailure) => void;
}

/**
 * The result of `call`, repeated up to {@link MAX_ATTEMPTS} in all where that can help. A call of whose answer part was
 * shown is not repeated; nor is one when the wait would use up the time that is left: another model may answer within it.
 *
 * @throws What the last attempt threw, as it was; or the abort error of `sleep` or the signal, when aborted while waiting.
 */
export function withRetries<T>(call: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { sleep, signal, random, leftMs, onFailure } = options;
  return pRetry(call, {
    retries: MAX_ATTEMPTS - 1,
    // The wait is that of `shouldRetry`, which knows what the server asked for.
    minTimeout: 0,
    ...(signal === undefined ? {} : { signal }),
    onFailedAttempt: ({ error }) => {
      if (signal?.aborted !== true) onFailure?.(classifyModelError(error));
    },
    shouldRetry: async ({ error, attemptNumber }) => {
      if (signal?.aborted === true) return false;
      const waitMs = waitBeforeNext(classifyModelError(error), attemptNumber, random?.());
      if (waitMs === undefined || waitMs >= (leftMs?.() ?? Infinity)) return false;
      await sleep(waitMs, signal);
      return true;
    },
  });
}

/**
 * Milliseconds to wait after failed attempt number `attempt` (1 is the first), or `undefined` when there is to be no other:
 * what the server asked for, or a wait that doubles, between half and whole by `random` (from 0 to 1).
 */
export function waitBeforeNext(failure: ModelFailure, attempt: number, random = 1): number | undefined {
  if (!failure.retryable || failure.streamed || attempt >= MAX_ATTEMPTS) return undefined;
  const backoff = Math.round(FIRST_WAIT_MS * 2 ** (attempt - 1) * (0.5 + random / 2));
  const waitMs = failure.retryAfterMs ?? backoff;
  return waitMs > MAX_WAIT_MS ? undefined : waitMs;
}

/** Waits by the system's timer. That of `node:timers/promises` makes an error with a stack of each wait that is ended. */
export const sleepByTimer: Sleep = (ms, signal) =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const end = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", end);
      resolve();
    }, ms);
    signal?.addEventListener("abort", end, { once: true });
  });
