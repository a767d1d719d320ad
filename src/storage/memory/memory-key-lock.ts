/** The lock of a single process: a queue by name and a token that grows. Its leases do not run out. */
import type { AcquireOptions, KeyLock, Lease, LeaseRef } from "../backend.ts";
import { createKeyQueue } from "../key-queue.ts";
import { assertNewest } from "../lease-lost.ts";
import { once } from "../poll-for-lock.ts";
import { startWait } from "../wait-limit.ts";

/** A {@link KeyLock} that can tell whether a lease is the newest. */
export interface MemoryKeyLock extends KeyLock {
  /** @throws {LilyError} `lease_lost` when `ref` is not the newest grant of its lock */
  assertHeld(ref: LeaseRef): void;
}

/** Makes the lock. */
export function createMemoryKeyLock(): MemoryKeyLock {
  const queue = createKeyQueue();
  const tokens = new Map<string, number>();
  const held = new Set<string>();

  return {
    async acquire(lockName: string, options: AcquireOptions = {}): Promise<Lease> {
      const wait = startWait(lockName, options);
      try {
        const leave = await queue.enter(lockName, { signal: wait.signal, onWait: () => options.onWait?.() });
        const token = (tokens.get(lockName) ?? 0) + 1;
        tokens.set(lockName, token);
        held.add(lockName);
        return leaseOf(
          { lockName, token },
          once(() => {
            held.delete(lockName);
            leave();
          }),
        );
      } finally {
        wait.end();
      }
    },
    async holder(lockName) {
      const token = tokens.get(lockName);
      return token === undefined || !held.has(lockName) ? undefined : { lockName, token };
    },
    assertHeld: (ref) => assertNewest(ref, tokens.get(ref.lockName)),
  };
}

function leaseOf(ref: LeaseRef, leave: () => void): Lease {
  return {
    ...ref,
    // Nobody outside this process can take the lock, so the signal never fires.
    lost: new AbortController().signal,
    async release() {
      leave();
    },
  };
}
