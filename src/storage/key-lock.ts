/** What the locks of all databases share: the line in front of a lock, holding and renewing its lease, and the refusal of one that is over. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Clock, orAborted, timeLimit } from "#src/kernel/clock.ts";
import { LilyError } from "#src/kernel/errors.ts";
import type { KeyLock, Lease, LeaseRef } from "./backend.ts";

// Twenty waiting processes then look about 300 times a second in all, a read of one row each.
const SHORTEST_POLL_MS = 25;
const LONGEST_POLL_MS = 100;

/** How a database keeps the leases of its locks. */
export interface LeaseTable {
  readonly clock: Clock;
  /** How long a lease lasts without renewal, in milliseconds. */
  readonly leaseMs: number;
  /** Asks for a lock once. @returns the token of its lease; `undefined` when somebody else holds it */
  grant(lockName: string, signal: AbortSignal): Promise<number | undefined>;
  /** Moves the end of a lease to `until`. @returns false when it is no longer the newest of its lock */
  renew(ref: LeaseRef, until: number): boolean | Promise<boolean>;
  /** Ends a lease. One that it could not end runs out by itself. */
  release(ref: LeaseRef): Promise<unknown>;
}

/** The leases that this process holds, or waits for in the order in which they were asked for, on the locks of one database. */
export class Leases {
  readonly #table: LeaseTable;
  /** By name, what settles when everybody who is in line now has left: only the first in line asks the database. */
  readonly #tails = new Map<string, Promise<unknown>>();
  readonly #held = new Set<Lease>();

  constructor(table: LeaseTable) {
    this.#table = table;
  }

  /** As {@link KeyLock.acquire}. */
  readonly acquire: KeyLock["acquire"] = async (lockName, options = {}) => {
    const { signal: callers, waitMs, onWait } = options;
    const timeout = waitMs === undefined ? undefined : timeLimit(Math.max(0, Math.ceil(waitMs)));
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
      const token = await this.#askUntilGranted(lockName, signal, tellOnce);
      return this.#hold({ lockName, token }, leave);
    } catch (error) {
      leave();
      throw timeout?.aborted === true && error === timeout.reason ? leaseTimeout(lockName, waitMs) : error;
    }
  };

  /** Gives back every lease that is still held. Idempotent. */
  async releaseAll(): Promise<void> {
    await Promise.all([...this.#held].map((lease) => lease.release()));
  }

  #join(lockName: string): { readonly before: Promise<unknown> | undefined; readonly leave: () => void } {
    const before = this.#tails.get(lockName);
    let leave: () => void = () => undefined;
    const left = new Promise<void>((resolve) => (leave = resolve));
    const tail = Promise.all([before, left]);
    this.#tails.set(lockName, tail);
    void this.#removeWhenLast(lockName, tail);
    return { before, leave };
  }

  async #removeWhenLast(lockName: string, tail: Promise<unknown>): Promise<void> {
    await tail;
    if (this.#tails.get(lockName) === tail) this.#tails.delete(lockName);
  }

  async #askUntilGranted(lockName: string, signal: AbortSignal, onWait: () => void): Promise<number> {
    for (;;) {
      signal.throwIfAborted();
      const token = await this.#table.grant(lockName, signal);
      if (token !== undefined) return token;
      onWait();
      const pauseMs = SHORTEST_POLL_MS + Math.random() * (LONGEST_POLL_MS - SHORTEST_POLL_MS);
      // Aborted, it rejects with an error of its own; the caller is owed the signal's reason, which is thrown above.
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Renews the lease every third of its time, by a timer that keeps no process alive, until it is released or lost. */
  #hold(ref: LeaseRef, leave: () => void): Lease {
    const table = this.#table;
    const { clock, leaseMs } = table;
    const lost = new AbortController();
    let expiresAt = clock.now() + leaseMs;
    const end = (): boolean => {
      clearInterval(timer);
      return this.#held.delete(lease);
    };
    const lose = (why: string): void => {
      if (end()) lost.abort(leaseLost(ref, why));
    };
    const loseWhenExpired = (): void => {
      if (clock.now() >= expiresAt) lose("it could not be renewed in time");
    };
    let renewing: Promise<void> | undefined;
    const renew = async (): Promise<void> => {
      const until = clock.now() + leaseMs;
      try {
        if (await table.renew(ref, until)) expiresAt = until;
        else lose("another holder has it now");
      } catch {
        // Busy, full or away: the next tick tries again, until others may have taken it.
        loseWhenExpired();
      }
      renewing = undefined;
    };
    const tick = (): void => {
      // A server that does not answer at all holds the renewal up, not the end of the lease.
      if (renewing === undefined) renewing = renew();
      else loseWhenExpired();
    };
    const timer = setInterval(tick, Math.max(1, leaseMs / 3)).unref();
    const lease: Lease = {
      ...ref,
      lost: lost.signal,
      release: async () => {
        // The work under it is done, whether or not it could be given back.
        if (end()) await table.release(ref).catch(() => undefined);
        leave();
      },
    };
    this.#held.add(lease);
    return lease;
  }
}

function leaseTimeout(lockName: string, waitMs: number | undefined): LilyError {
  return new LilyError("lease_timeout", `${JSON.stringify(lockName)} was still in use after ${waitMs} ms`, {
    next: "Another turn on the same key is running; try again when it is done.",
  });
}

/** The error for a holder of `ref` whose lease is over; `why` ends the sentence. */
function leaseLost(ref: LeaseRef, why: string): LilyError {
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
