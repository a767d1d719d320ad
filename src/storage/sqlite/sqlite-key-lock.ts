/** A lock by name for all processes that share a SQLite file: leases that run out, with tokens that fence writes. */
import { setTimeout as sleepByTimer } from "node:timers/promises";
import type { Database } from "better-sqlite3";
import type { Clock } from "#src/kernel/clock.ts";
import type { Ids } from "#src/kernel/ids.ts";
import type { AcquireOptions, KeyLock, Lease, LeaseRef } from "../backend.ts";
import { createKeyQueue } from "../key-queue.ts";
import { assertNewest } from "../lease-lost.ts";
import { startWait } from "../wait-limit.ts";
import { holdLease } from "./held-lease.ts";
import { openLeaseTable, type LeaseTable } from "./lease-table.ts";
import { currentProcess } from "./process-identity.ts";
import { retryBusy } from "#memory/stores/sqlite/retry-busy.ts";

/** Options of {@link createSqliteKeyLock}. */
export interface SqliteKeyLockOptions {
  /** Wall time by which leases run out; processes that share the file have to agree on it within a few seconds. */
  readonly clock: Clock;
  readonly ids: Pick<Ids, "uuid">;
  /** How long a lease lasts without renewal, in milliseconds: how long a key is blocked when another host dies. */
  readonly leaseMs?: number;
  /** Waits between looks at a lock that is held; rejects when the signal is aborted. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Source of jitter in [0, 1). */
  readonly random?: () => number;
}

/** A {@link KeyLock} whose leases can be checked inside a transaction. */
export interface SqliteKeyLock extends KeyLock {
  /** @throws {LilyError} `lease_lost` when `ref` is not the newest grant of its lock */
  assertHeld(ref: LeaseRef): void;
  /** Gives back every lease that is still held. Idempotent. */
  releaseAll(): Promise<void>;
}

// Twenty waiting processes then look about 300 times a second in all, a read of one row each.
const SHORTEST_POLL_MS = 25;
const LONGEST_POLL_MS = 100;

/** Makes the lock; its table is made in `db` where it is missing. */
export function createSqliteKeyLock(db: Database, options: SqliteKeyLockOptions): SqliteKeyLock {
  const { clock, ids, leaseMs = 30_000 } = options;
  const table = openLeaseTable(db, currentProcess());
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
        const token = await pollUntilGranted(attempt, {
          ...options,
          file: db.name,
          signal: wait.signal,
          onWait,
        });
        return track({ lockName, token }, leave);
      } catch (error) {
        leave?.();
        throw error;
      } finally {
        wait.end();
      }
    },
    assertHeld: (ref) => assertNewest(ref, table.newestToken(ref.lockName)),
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

interface GrantTerms {
  readonly lockName: string;
  readonly holder: string;
  readonly clock: Clock;
  readonly leaseMs: number;
}

function grantAttempt(
  table: LeaseTable,
  { lockName, holder, clock, leaseMs }: GrantTerms,
): () => number | undefined {
  return () => {
    const now = clock.now();
    return table.grant(lockName, { holder, now, expiresAt: now + leaseMs });
  };
}

interface PollOptions extends Pick<SqliteKeyLockOptions, "sleep" | "random"> {
  readonly file: string;
  readonly signal: AbortSignal;
  readonly onWait: () => void;
}

async function pollUntilGranted(attempt: () => number | undefined, options: PollOptions): Promise<number> {
  const { file, signal, onWait, sleep = defaultSleep, random = Math.random } = options;
  for (;;) {
    const token = await retryBusy(
      () => {
        signal.throwIfAborted();
        return attempt();
      },
      { file },
    );
    if (token !== undefined) return token;
    onWait();
    await sleep(SHORTEST_POLL_MS + random() * (LONGEST_POLL_MS - SHORTEST_POLL_MS), signal).catch(
      (error: unknown) => {
        // A timer rejects with an error of its own; the caller is owed the signal's reason.
        signal.throwIfAborted();
        throw error;
      },
    );
  }
}

async function defaultSleep(ms: number, signal: AbortSignal): Promise<void> {
  await sleepByTimer(ms, undefined, { signal });
}

function once(call: (() => void) | undefined): () => void {
  let called = false;
  return () => {
    if (called) return;
    called = true;
    call?.();
  };
}
