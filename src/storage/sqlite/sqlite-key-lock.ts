/** A lock by name for all processes that share a SQLite file: leases that run out, with tokens that fence writes. */
import type { Database } from "better-sqlite3";
import type { Clock } from "#src/kernel/clock.ts";
import type { Ids } from "#src/kernel/ids.ts";
import type { AcquireOptions, KeyLock, Lease, LeaseRef } from "../backend.ts";
import { createKeyQueue } from "../key-queue.ts";
import { assertNewest } from "../lease-lost.ts";
import { once, pollUntilGranted, type PollTiming } from "../poll-for-lock.ts";
import { startWait } from "../wait-limit.ts";
import { holdLease } from "./held-lease.ts";
import { openLeaseTable, type LeaseTable } from "./lease-table.ts";
import { currentProcess } from "./process-identity.ts";
import { retryBusy } from "#memory/stores/sqlite/retry-busy.ts";

/** Options of {@link createSqliteKeyLock}. */
export interface SqliteKeyLockOptions extends PollTiming {
  /** Wall time by which leases run out; processes that share the file have to agree on it within a few seconds. */
  readonly clock: Clock;
  readonly ids: Pick<Ids, "uuid">;
  /** How long a lease lasts without renewal, in milliseconds: how long a key is blocked when another host dies. */
  readonly leaseMs?: number;
}

/** A {@link KeyLock} whose leases can be checked inside a transaction. */
export interface SqliteKeyLock extends KeyLock {
  /** @throws {LilyError} `lease_lost` when `ref` is not the newest grant of its lock */
  assertHeld(ref: LeaseRef): void;
  /** Forgets the locks whose names begin with `prefix` and that nobody holds; how many. */
  forget(prefix: string): Promise<number>;
  /** Gives back every lease that is still held. Idempotent. */
  releaseAll(): Promise<void>;
}

/** Makes the lock; its table is made in `db` where it is missing. */
export function createSqliteKeyLock(db: Database, options: SqliteKeyLockOptions): SqliteKeyLock {
  const { clock, ids, leaseMs = 30_000 } = options;
  const table = openLeaseTable(db, currentProcess);
  const queue = createKeyQueue();
  const held = new Set<Lease>();

  return {
    async acquire(lockName: string, acquireOptions: AcquireOptions = {}): Promise<Lease> {
      const wait = startWait(lockName, acquireOptions);
      const onWait = once(acquireOptions.onWait);
      let leave: (() => void) | undefined;
      try {
        leave = await queue.enter(lockName, { signal: wait.signal, onWait });
        const attempt = grantAttempt(table, { lockName, holder: ids.uuid(), clock, leaseMs });
        const { signal } = wait;
        const askOnce = (): number | undefined => {
          signal.throwIfAborted();
          return attempt();
        };
        const poll = { ...options, signal, onWait };
        const token = await pollUntilGranted(() => retryBusy(askOnce, { file: db.name }), poll);
        return track({ lockName, token }, leave);
      } catch (error) {
        leave?.();
        throw error;
      } finally {
        wait.end();
      }
    },
    async holder(lockName) {
      const token = await retryBusy(() => table.heldToken(lockName, clock.now()), { file: db.name });
      return token === undefined ? undefined : { lockName, token };
    },
    assertHeld: (ref) => assertNewest(ref, table.newestToken(ref.lockName)),
    forget: (prefix) => retryBusy(() => table.forget(prefix, clock.now()), { file: db.name }),
    async releaseAll() {
      await Promise.all([...held].map((lease) => lease.release()));
    },
  };

  function track(ref: LeaseRef, leave: () => void): Lease {
    const onEnd = (): void => void held.delete(lease);
    const inner = holdLease(ref, { table, clock, leaseMs, file: db.name, onEnd });
    const lease: Lease = {
      ...inner,
      async release() {
        await inner.release();
        leave();
      },
    };
    held.add(lease);
    return lease;
  }
}

interface Wanted {
  readonly lockName: string;
  readonly holder: string;
  readonly clock: Clock;
  readonly leaseMs: number;
}

function grantAttempt(
  table: LeaseTable,
  { lockName, holder, clock, leaseMs }: Wanted,
): () => number | undefined {
  let isAgain = false;
  return () => {
    const now = clock.now();
    const token = table.grant(lockName, { holder, now, expiresAt: now + leaseMs, isAgain });
    isAgain = true;
    return token;
  };
}
