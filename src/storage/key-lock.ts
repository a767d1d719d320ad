/** What the locks of all databases share: the waiting for one, and the refusal of a lease that is over. */
import { setTimeout as sleep } from "node:timers/promises";
import { LilyError } from "#src/kernel/errors.ts";
import { orAborted } from "#src/kernel/or-aborted.ts";
import type { AcquireOptions, LeaseRef } from "./backend.ts";

// Twenty waiting processes then look about 300 times a second in all, a read of one row each.
const SHORTEST_POLL_MS = 25;
const LONGEST_POLL_MS = 100;

/** A lock that was granted to this process. */
export interface Granted<Grant> {
  readonly grant: Grant;
  /** Lets the next one of this process ask. Idempotent. */
  readonly leave: () => void;
}

/** The lines of one process in front of its locks: one of them asks the database, the others wait in the order in which they came. */
export class LockLines {
  /** By name, what settles when everybody who is in line now has left. */
  readonly #tails = new Map<string, Promise<void>>();

  /**
   * Waits in line for `lockName`, then asks `attempt` again and again until it grants.
   *
   * @param attempt asks once; `undefined` when somebody else holds the lock
   * @throws {LilyError} `lease_timeout` after `waitMs`; the signal's reason when it is aborted; what `attempt` throws
   */
  async wait<Grant>(
    lockName: string,
    { signal: callers, waitMs, onWait }: AcquireOptions,
    attempt: () => Promise<Grant | undefined>,
  ): Promise<Granted<Grant>> {
    const timeout = waitMs === undefined ? undefined : AbortSignal.timeout(Math.max(0, Math.ceil(waitMs)));
    const signal = AbortSignal.any([callers, timeout].filter((given) => given !== undefined));
    signal.throwIfAborted();
    const { before, leave } = this.#join(lockName);
    let hasWaited = false;
    const tellOnce = (): void => {
      if (!hasWaited) onWait?.();
      hasWaited = true;
    };
    try {
      if (before !== undefined) {
        tellOnce();
        await orAborted(before, { signal });
      }
      return { grant: await pollUntilGranted(attempt, signal, tellOnce), leave };
    } catch (error) {
      leave();
      throw timeout?.aborted === true && error === timeout.reason ? leaseTimeout(lockName, waitMs) : error;
    }
  }

  #join(lockName: string): { before: Promise<void> | undefined; leave: () => void } {
    const before = this.#tails.get(lockName);
    let leave: () => void = () => undefined;
    const left = new Promise<void>((resolve) => (leave = resolve));
    const tail = before === undefined ? left : before.then(() => left);
    this.#tails.set(lockName, tail);
    void this.#removeWhenLast(lockName, tail);
    return { before, leave };
  }

  async #removeWhenLast(lockName: string, tail: Promise<void>): Promise<void> {
    await tail;
    if (this.#tails.get(lockName) === tail) this.#tails.delete(lockName);
  }
}

async function pollUntilGranted<Grant>(
  attempt: () => Promise<Grant | undefined>,
  signal: AbortSignal,
  onWait: () => void,
): Promise<Grant> {
  for (;;) {
    signal.throwIfAborted();
    const granted = await attempt();
    if (granted !== undefined) return granted;
    onWait();
    const pauseMs = SHORTEST_POLL_MS + Math.random() * (LONGEST_POLL_MS - SHORTEST_POLL_MS);
    await sleep(pauseMs, undefined, { signal }).catch((error: unknown) => {
      // The timer rejects with an error of its own; the caller is owed the signal's reason.
      signal.throwIfAborted();
      throw error;
    });
  }
}

function leaseTimeout(lockName: string, waitMs: number | undefined): LilyError {
  return new LilyError("lease_timeout", `${JSON.stringify(lockName)} was still in use after ${waitMs} ms`, {
    next: "Another turn on the same key is running; try again when it is done.",
  });
}

/** The error for a holder of `ref` whose lease is over; `why` ends the sentence. */
export function leaseLost(ref: LeaseRef, why: string): LilyError {
  return new LilyError(
    "lease_lost",
    `lease ${ref.token} of ${JSON.stringify(ref.lockName)} is over: ${why}`,
    { next: "Nothing was written; send the message again." },
  );
}

/** @throws {LilyError} `lease_lost` unless `newest`, the token of the newest grant, is that of `ref` */
export function assertNewest(ref: LeaseRef, newest: number | undefined): void {
  if (newest === ref.token) return;
  const why = newest === undefined ? "it was never granted" : `lease ${newest} was granted after it`;
  throw leaseLost(ref, why);
}
