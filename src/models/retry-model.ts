/** Repeats a failed model call: bounded, at the server's pace, and never behind the back of who reads along. */
import { classifyModelError, type ModelFailure } from "./model-errors.ts";
import type { Sleep } from "./sleep.ts";

/** How often and how fast a call is repeated. */
export interface RetryLimits {
  /** Attempts in all, the first one included. */
  readonly attempts: number;
  /** Wait before the second attempt in milliseconds; doubled before each further one. */
  readonly baseDelayMs: number;
  /** Longest wait in milliseconds. A server that asks for a longer one is not asked again. */
  readonly maxDelayMs: number;
}

/** Three attempts ride out a restart or a short rate limit; half a minute is what a person waits for an answer. */
export const DEFAULT_RETRY_LIMITS: RetryLimits = { attempts: 3, baseDelayMs: 500, maxDelayMs: 30_000 };

/** Whether a failed call is repeated, with the numbers that decided. */
export type RetryVerdict =
  | { readonly action: "retry"; readonly delayMs: number }
  | {
      readonly action: "stop";
      readonly reason: "not_retryable" | "attempts_used" | "wait_too_long" | "no_time_left";
    };

/** What {@link decideRetry} decides by, beside the failure. */
interface RetryConditions {
  readonly limits?: RetryLimits;
  readonly random?: number;
  /** Milliseconds that the caller has left for waiting and asking again. */
  readonly leftMs?: number | undefined;
}

/**
 * Decides after failed attempt number `attempt` (1 is the first). The wait is what the server asked for, or
 * `baseDelayMs * 2^(attempt-1)` between half and whole by `random` (from 0 to 1), capped. A wait that uses up the time that
 * is left is not begun: another model may answer within it.
 */
export function decideRetry(
  failure: ModelFailure,
  attempt: number,
  { limits = DEFAULT_RETRY_LIMITS, random = 1, leftMs }: RetryConditions = {},
): RetryVerdict {
  if (!failure.retryable) return { action: "stop", reason: "not_retryable" };
  if (attempt >= limits.attempts) return { action: "stop", reason: "attempts_used" };
  const asked = failure.retryAfterMs;
  if (asked !== undefined && asked > limits.maxDelayMs) return { action: "stop", reason: "wait_too_long" };
  const backoff = Math.min(limits.baseDelayMs * 2 ** (attempt - 1), limits.maxDelayMs) * (0.5 + random / 2);
  const delayMs = asked ?? Math.round(backoff);
  if (leftMs !== undefined && delayMs >= leftMs) return { action: "stop", reason: "no_time_left" };
  return { action: "retry", delayMs };
}

/** A repetition that is about to happen. */
interface RetryEvent {
  readonly failure: ModelFailure;
  /** Number of the attempt that failed; 1 is the first. */
  readonly attempt: number;
  readonly delayMs: number;
}

/** Options of {@link withRetries}. */
export interface RetryOptions extends Partial<RetryLimits> {
  readonly sleep: Sleep;
  readonly classify?: (error: unknown) => ModelFailure;
  /** Ends the waiting; once it is aborted there is no further attempt. */
  readonly signal?: AbortSignal | undefined;
  /** Spreads the waits of many callers; from 0 to 1. Left out, the waits are whole. */
  readonly random?: (() => number) | undefined;
  /** Milliseconds that are left for waiting and asking again; asked after each failure. */
  readonly leftMs?: () => number;
  /** Told of each failed attempt, also of the last. */
  readonly onFailure?: (failure: ModelFailure) => void;
  /**
   * Called before each repetition, and may decide it: `"stop"` ends with the failure, `"retry"` repeats even though
   * part of the failed answer has been shown. With no answer, only what has shown nothing is repeated.
   */
  readonly onRetry?: (event: RetryEvent) => "retry" | "stop" | void;
}

/**
 * The result of `call`, repeated while {@link decideRetry} allows it.
 *
 * @throws What the last attempt threw, as it was; or the abort error of `sleep` or the signal, when aborted while waiting.
 */
export async function withRetries<T>(
  call: (attempt: number) => Promise<T>,
  options: RetryOptions,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call(attempt);
    } catch (error) {
      const delayMs = delayBeforeNext(error, attempt, options);
      if (delayMs === undefined) throw error;
      await options.sleep(delayMs, options.signal);
      options.signal?.throwIfAborted();
    }
  }
}

function delayBeforeNext(error: unknown, attempt: number, options: RetryOptions): number | undefined {
  if (options.signal?.aborted === true) return undefined;
  const failure = (options.classify ?? classifyModelError)(error);
  options.onFailure?.(failure);
  const verdict = decideRetry(failure, attempt, {
    limits: limitsOf(options),
    random: options.random?.() ?? 1,
    leftMs: options.leftMs?.(),
  });
  if (verdict.action === "stop") return undefined;
  const wish = options.onRetry?.({ failure, attempt, delayMs: verdict.delayMs });
  const allowed = failure.streamed ? wish === "retry" : wish !== "stop";
  return allowed ? verdict.delayMs : undefined;
}

function limitsOf({ attempts, baseDelayMs, maxDelayMs }: RetryOptions): RetryLimits {
  return {
    attempts: attempts ?? DEFAULT_RETRY_LIMITS.attempts,
    baseDelayMs: baseDelayMs ?? DEFAULT_RETRY_LIMITS.baseDelayMs,
    maxDelayMs: maxDelayMs ?? DEFAULT_RETRY_LIMITS.maxDelayMs,
  };
}
