/** A lease while it is held: renews itself until it is released or found to be lost. */
import type { Clock } from "#src/kernel/clock.ts";
import type { Lease, LeaseRef } from "../backend.ts";
import { leaseLost } from "../lease-lost.ts";
import type { LeaseTable } from "./lease-table.ts";
import { retryBusy } from "#memory/stores/sqlite/retry-busy.ts";

/** What a held lease needs. */
export interface HeldLeaseContext {
  readonly table: LeaseTable;
  readonly clock: Clock;
  /** How long a renewal lasts, in milliseconds. */
  readonly leaseMs: number;
  /** The database file, for messages. */
  readonly file: string;
  /** Called once when the lease is over. */
  readonly onEnd: () => void;
}

/** Longest wait of a release for the database; a lease that could not be given back runs out by itself. */
const RELEASE_DEADLINE_MS = 2_000;

/** Holds `ref` until its `release`: renews it every third of `leaseMs` by a timer that keeps no process alive. */
export function holdLease(ref: LeaseRef, context: HeldLeaseContext): Lease {
  const { table, clock, leaseMs, file } = context;
  const lost = new AbortController();
  let expiresAt = clock.now() + leaseMs;
  let ended = false;

  const end = (): boolean => {
    if (ended) return false;
    ended = true;
    clearInterval(timer);
    context.onEnd();
    return true;
  };
  const lose = (why: string): void => {
    if (end()) lost.abort(leaseLost(ref, why));
  };
  const renew = (): void => {
    const until = clock.now() + leaseMs;
    try {
      if (table.renew(ref.lockName, ref.token, until)) expiresAt = until;
      else lose("another holder has it now");
    } catch {
      // Locked or full: the next tick tries again, until others may have taken it.
      if (clock.now() >= expiresAt) lose("it could not be renewed in time");
    }
  };
  const timer = setInterval(renew, Math.max(1, leaseMs / 3)).unref();

  return {
    ...ref,
    lost: lost.signal,
    async release() {
      if (!end()) return;
      try {
        await retryBusy(() => table.renew(ref.lockName, ref.token, 0), {
          file,
          deadlineMs: RELEASE_DEADLINE_MS,
        });
      } catch {
        // The work under the lease is done either way; the lease runs out by itself.
      }
    },
  };
}
