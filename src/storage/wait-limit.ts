/** How long a caller waits for a lock: one signal out of the caller's own signal and its longest wait. */
import { LilyError } from "#src/kernel/errors.ts";
import { passOn } from "#src/kernel/pass-on.ts";
import type { AcquireOptions } from "./backend.ts";

/** A running wait. */
export interface WaitLimit {
  /** Aborted when waiting is over; its reason is what the waiter throws. */
  readonly signal: AbortSignal;
  /** Stops the timer. Call it when the wait has ended, either way. Idempotent. */
  end(): void;
}

/**
 * Starts the wait for `lockName`. The signal is aborted with `lease_timeout` after `waitMs` milliseconds, or with the
 * caller's reason when the caller aborts; without either it never is.
 */
export function startWait(
  lockName: string,
  options: Pick<AcquireOptions, "signal" | "waitMs"> = {},
): WaitLimit {
  const limit = new AbortController();
  const leave = passOn(options.signal, limit);
  const timer =
    options.waitMs === undefined
      ? undefined
      : setTimeout(
          () => limit.abort(leaseTimeout(lockName, options.waitMs ?? 0)),
          Math.max(0, options.waitMs),
        );
  return {
    signal: limit.signal,
    end() {
      clearTimeout(timer);
      leave();
    },
  };
}

function leaseTimeout(lockName: string, waitMs: number): LilyError {
  return new LilyError("lease_timeout", `${JSON.stringify(lockName)} was still in use after ${waitMs} ms`, {
    next: "Another turn on the same key is running; try again when it is done.",
  });
}
