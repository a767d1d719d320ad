/** The leases that a process holds: given back one by one, renewed together, lost together with their connection. */
import { withServer } from "#memory/stores/postgres/postgres-errors.ts";
import type { Lease, LeaseRef } from "../backend.ts";
import { leaseLost } from "../lease-lost.ts";
import type { LeaseStatements } from "./lease-statements.ts";
import type { LockConnection } from "./lock-connection.ts";
import type { LockId } from "./lock-names.ts";

/** What was granted. */
export interface Grant {
  readonly ref: LeaseRef;
  readonly id: LockId;
  readonly connection: LockConnection;
  /** Lets the next one of this process in. */
  readonly leave: () => void;
}

/** The leases of one process. */
export interface HeldLeases {
  hold(grant: Grant): Lease;
  /** Gives back every lease that is still held. Idempotent. */
  releaseAll(): Promise<void>;
}

/** Options of {@link createHeldLeases}. */
export interface HeldLeasesOptions {
  readonly statements: LeaseStatements;
  /** How long a renewal lasts, in milliseconds. */
  readonly leaseMs: number;
  /** The server's name in error messages. */
  readonly server: string;
}

interface Holding {
  readonly grant: Grant;
  readonly lease: Lease;
  /** Ends the lease against the will of its holder; `why` ends the sentence. */
  lose(why: string): void;
  /** Loses it with its connection from now on. */
  watch(): void;
}

/** Makes the set. It renews its leases every third of `leaseMs`, by a timer that keeps no process alive. */
export function createHeldLeases(options: HeldLeasesOptions): HeldLeases {
  const held = new Set<Holding>();
  let timer: NodeJS.Timeout | undefined;
  const renew = oneAtATime(async () => {
    const byConnection = new Map<LockConnection, Holding[]>();
    for (const holding of held) {
      const { connection } = holding.grant;
      byConnection.set(connection, [...(byConnection.get(connection) ?? []), holding]);
    }
    for (const [connection, holdings] of byConnection) await renewOn(connection, holdings, options);
  });
  const stop = (holding: Holding): boolean => {
    const wasHeld = held.delete(holding);
    if (held.size > 0) return wasHeld;
    clearInterval(timer);
    timer = undefined;
    return wasHeld;
  };

  return {
    hold(grant) {
      const holding = createHolding(grant, { statements: options.statements, stop });
      held.add(holding);
      timer ??= setInterval(renew, Math.max(1, options.leaseMs / 3)).unref();
      holding.watch();
      return holding.lease;
    },
    async releaseAll() {
      await Promise.all([...held].map((holding) => holding.lease.release()));
    },
  };
}

interface HoldingContext {
  readonly statements: LeaseStatements;
  /** Takes the lease out of the set. @returns whether it was in it */
  readonly stop: (holding: Holding) => boolean;
}

function createHolding(grant: Grant, { statements, stop }: HoldingContext): Holding {
  const lost = new AbortController();
  const { lost: disconnected } = grant.connection;
  let unlocked: Promise<void> | undefined;
  const onDisconnect = (): void => holding.lose("the connection to the database was lost");
  const end = (): boolean => {
    disconnected.removeEventListener("abort", onDisconnect);
    return stop(holding);
  };
  const lease: Lease = {
    ...grant.ref,
    lost: lost.signal,
    async release() {
      end();
      // Also when it is lost by its token: the connection would hold the lock for ever.
      await (unlocked ??= unlock(grant, statements));
      grant.leave();
    },
  };
  const holding: Holding = {
    grant,
    lease,
    lose(why) {
      if (end()) lost.abort(leaseLost(grant.ref, why));
    },
    watch() {
      if (disconnected.aborted) onDisconnect();
      else disconnected.addEventListener("abort", onDisconnect, { once: true });
    },
  };
  return holding;
}

// A server that is slower than the timer is not asked twice at once.
function oneAtATime(work: () => Promise<void>): () => void {
  let running: Promise<void> | undefined;
  return () => {
    running ??= work().finally(() => (running = undefined));
  };
}

/** Gives the lock back. One that cannot be given back ends with its connection, which is then ended. */
async function unlock(
  { id, connection }: Pick<Grant, "id" | "connection">,
  statements: LeaseStatements,
): Promise<void> {
  if (connection.lost.aborted) return;
  try {
    await connection.query(statements.unlock, [id.advisory]);
  } catch {
    // The work under the lease is done either way, and the connection has said that it is lost.
  }
}

async function renewOn(
  connection: LockConnection,
  holdings: readonly Holding[],
  { statements, leaseMs, server }: HeldLeasesOptions,
): Promise<void> {
  const rows = holdings.map(({ grant }) => grant.id.row);
  const tokens = holdings.map(({ grant }) => grant.ref.token);
  try {
    const renewed = await withServer(server, () =>
      connection.query<{ row: string }>(statements.renew, [rows, tokens, leaseMs]),
    );
    const newest = new Set(renewed.map(({ row }) => row));
    for (const holding of holdings) {
      if (!newest.has(holding.grant.id.row)) holding.lose("another holder has it now");
    }
  } catch {
    // Without an answer the connection has told its leases. With one (a full disk) the next renewal may work; the lock
    // is still held, and whoever takes it after `leaseMs` ends this connection.
  }
}
