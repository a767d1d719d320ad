/** A lock by name for all processes that share a database: advisory locks, with tokens that fence writes. */
import type { ClientConfig } from "pg";
import { withServer } from "#memory/stores/postgres/postgres-errors.ts";
import type { Queryable } from "#memory/stores/postgres/read-context.ts";
import type { AcquireOptions, KeyLock, Lease, LeaseRef } from "../backend.ts";
import { createKeyQueue } from "../key-queue.ts";
import { assertNewest } from "../lease-lost.ts";
import { once, pollUntilGranted, type PollTiming } from "../poll-for-lock.ts";
import { startWait } from "../wait-limit.ts";
import { createHeldLeases } from "./held-leases.ts";
import { leaseStatements, type LeaseStatements } from "./lease-statements.ts";
import { openLockConnection, type LockConnection } from "./lock-connection.ts";
import { lockIdOf, type LockId } from "./lock-names.ts";

/** Options of {@link createPostgresKeyLock}. */
export interface PostgresKeyLockOptions extends PollTiming {
  /** Leads to the server itself or to a pooler that gives each client a session of its own. */
  readonly connection: ClientConfig;
  readonly schema: string;
  /** The server's name in error messages, without a password. */
  readonly server: string;
  /**
   * How long a holder may be silent before it is thrown out, in milliseconds; 30 s by default. One whose process was
   * killed is free at once, since its connection ends.
   */
  readonly leaseMs?: number;
}

/** A {@link KeyLock} whose leases can be checked inside a transaction. */
export interface PostgresKeyLock extends KeyLock {
  /** Keeps newer grants waiting until the transaction is over. @throws {LilyError} `lease_lost` unless newest */
  assertHeld(client: Queryable, ref: LeaseRef): Promise<void>;
  /** Gives back every lease that is still held and disconnects. Idempotent. */
  close(): Promise<void>;
}

/** Makes the lock; its table exists. It connects when it is first used. */
export function createPostgresKeyLock(options: PostgresKeyLockOptions): PostgresKeyLock {
  const { schema, server, leaseMs = 30_000 } = options;
  const statements = leaseStatements(schema);
  const queue = createKeyQueue();
  const held = createHeldLeases({ statements, leaseMs, server });
  const connect = reconnecting(() => openLockConnection(options.connection, { server, answerMs: leaseMs }));

  return {
    async acquire(lockName: string, acquireOptions: AcquireOptions = {}): Promise<Lease> {
      const wait = startWait(lockName, acquireOptions);
      const onWait = once(acquireOptions.onWait);
      const id = lockIdOf(schema, lockName);
      let leave: (() => void) | undefined;
      try {
        leave = await queue.enter(lockName, { signal: wait.signal, onWait });
        const attempt = createAttempt(id, { statements, leaseMs, connect: connect.current });
        const poll = { ...options, signal: wait.signal, onWait };
        const { token, connection } = await pollUntilGranted(() => withServer(server, attempt), poll);
        return held.hold({ ref: { lockName, token }, id, connection, leave });
      } catch (error) {
        leave?.();
        throw error;
      } finally {
        wait.end();
      }
    },
    async holder(lockName) {
      const { advisory, row } = lockIdOf(schema, lockName);
      const rows = await withServer(server, async () =>
        (await connect.current()).query<{ token: number }>(statements.holder, [advisory, row]),
      );
      return rows[0] === undefined ? undefined : { lockName, token: rows[0].token };
    },
    async assertHeld(client, ref) {
      const { row } = lockIdOf(schema, ref.lockName);
      const { rows } = await client.query<{ token: number }>(statements.newest, [row]);
      assertNewest(ref, rows[0]?.token);
    },
    async close() {
      await held.releaseAll();
      await connect.end();
    },
  };
}

/** The connection, opened again after it was lost. */
function reconnecting(open: () => Promise<LockConnection>) {
  let opened: Promise<LockConnection> | undefined;

  async function current(): Promise<LockConnection> {
    const mine = (opened ??= open());
    const connection = await mine.catch((error: unknown) => {
      if (opened === mine) opened = undefined;
      throw error;
    });
    if (!connection.lost.aborted) return connection;
    if (opened === mine) opened = undefined;
    return current();
  }

  return {
    current,
    async end(): Promise<void> {
      const mine = opened;
      opened = undefined;
      // One that could not be opened need not be ended.
      await mine?.then((connection) => connection.end()).catch(() => undefined);
    },
  };
}

interface Granted {
  readonly token: number;
  readonly connection: LockConnection;
}

interface AttemptContext {
  readonly statements: LeaseStatements;
  readonly leaseMs: number;
  readonly connect: () => Promise<LockConnection>;
}

/** What tries once for the lock, and throws out a holder that it finds overdue with the same token twice in a row. */
function createAttempt(
  id: LockId,
  { statements, leaseMs, connect }: AttemptContext,
): () => Promise<Granted | undefined> {
  // A holder is overdue for an instant while it takes a lock whose last lease has run out; hence twice.
  let overdue: number | undefined;
  return async () => {
    const connection = await connect();
    const granted = await grant(connection, id, { statements, leaseMs });
    if (granted !== undefined) return { token: granted, connection };
    const [late] = await connection.query<{ token: number }>(statements.overdue, [id.row]);
    if (late !== undefined && late.token === overdue) {
      await connection.query(statements.evict, [id.advisory, id.row, late.token]).catch(keepWaiting);
    }
    overdue = late?.token;
    return undefined;
  };
}

async function grant(
  connection: LockConnection,
  id: LockId,
  { statements, leaseMs }: Pick<AttemptContext, "statements" | "leaseMs">,
): Promise<number | undefined> {
  try {
    const rows = await connection.query<{ token: number }>(statements.grant, [id.advisory, id.row, leaseMs]);
    return rows[0]?.token;
  } catch (error) {
    // An advisory lock outlives the statement that failed after taking it.
    if (!connection.lost.aborted) await connection.query(statements.unlock, [id.advisory]);
    if (isLockTimeout(error)) return undefined;
    throw error;
  }
}

// The holder came in as another user, whose connections this one may not end.
function keepWaiting(error: unknown): void {
  if (!hasCode(error, "42501")) throw error;
}

// A write under the lease before this one is still going on.
function isLockTimeout(error: unknown): boolean {
  return hasCode(error, "55P03");
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
