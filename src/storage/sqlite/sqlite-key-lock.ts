/** A lock by name for all processes that share a SQLite file: leases that run out, with tokens that fence writes. */
import { readlinkSync } from "node:fs";
import { hostname } from "node:os";
import type { Database } from "better-sqlite3";
import { retryBusy } from "#memory/stores/storage-errors.ts";
import type { Clock } from "#src/kernel/clock.ts";
import type { KeyLock, LeaseRef } from "../backend.ts";
import { assertNewest, Leases } from "../key-lock.ts";

/** Names a process to others on the same host. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Host name and, on Linux, the process id namespace: containers may share a host name, not their process ids. */
  readonly host: string;
}

/** The identity of this process. */
export function currentProcess(): ProcessIdentity {
  let host = hostname();
  try {
    host += ` ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    // Not Linux: there are no process id namespaces to tell apart.
  }
  return { pid: process.pid, host };
}

/** Whether `other` is known to have ended: false on another host, and while another process has its id. */
export function isProcessGone(other: ProcessIdentity, { host } = currentProcess()): boolean {
  if (other.host !== host) return false;
  try {
    process.kill(other.pid, 0);
    return false;
  } catch (error) {
    // EPERM: it runs, as somebody else.
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
}

/** A row of the table. It stays when its lease ends, so that tokens only grow. */
interface LeaseRow extends ProcessIdentity {
  readonly name: string;
  readonly token: number;
  /** Milliseconds since the epoch; 0 when it was given back. */
  readonly expires_at: number;
}

export interface SqliteKeyLockOptions {
  /** Wall time by which leases run out; processes that share the file have to agree on it within a few seconds. */
  readonly clock: Clock;
  /**
   * How long a lease lasts without renewal, in milliseconds; 10 s by default: how long a key is blocked when another host
   * dies. The lock of a process of this host that was killed is free at once.
   */
  readonly leaseMs?: number | undefined;
}

/** No lock has this name: its token is the highest that a forgotten lock had, from which new ones go on. */
const FORGOTTEN = "highest-removed-token";

/** Longest wait of a release for the database; a lease that could not be given back runs out by itself. */
const RELEASE_DEADLINE_MS = 2_000;

// `holder` and `started` are of earlier versions, whose files have them.
const TABLE = `CREATE TABLE IF NOT EXISTS leases (
  name TEXT PRIMARY KEY, token INTEGER NOT NULL, holder TEXT NOT NULL,
  pid INTEGER NOT NULL, host TEXT NOT NULL, started INTEGER, expires_at INTEGER NOT NULL
) STRICT`;

const GRANT = `
  INSERT INTO leases (name, token, holder, pid, host, expires_at)
  VALUES (@name, coalesce((SELECT token FROM leases WHERE name = '${FORGOTTEN}'), 0) + 1, '', @pid, @host, @expiresAt)
  ON CONFLICT (name) DO UPDATE SET token = token + 1, pid = @pid, host = @host, expires_at = @expiresAt
  WHERE expires_at <= @now OR token = @goneToken RETURNING token`;

const REMEMBER_FORGOTTEN = `
  INSERT INTO leases (name, token, holder, pid, host, expires_at) VALUES ('${FORGOTTEN}', @token, '', 0, '', 0)
  ON CONFLICT (name) DO UPDATE SET token = max(token, excluded.token)`;

interface GrantTerms extends ProcessIdentity {
  readonly name: string;
  readonly now: number;
  readonly expiresAt: number;
  /** The lease of a process that has ended, which is taken before it runs out. */
  readonly goneToken: number | null;
}

/** The lock; its table is made in `db` where it is missing. Leases can be checked inside a transaction of `db`. */
export class SqliteKeyLock implements KeyLock {
  readonly acquire: KeyLock["acquire"];
  /** Gives back every lease that is still held. Idempotent. */
  readonly close: () => Promise<void>;
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #leaseMs: number;
  readonly #self = currentProcess();
  readonly #statements;

  constructor(db: Database, { clock, leaseMs = 10_000 }: SqliteKeyLockOptions) {
    db.exec(TABLE);
    this.#db = db;
    this.#clock = clock;
    this.#leaseMs = leaseMs;
    const leases = new Leases({
      clock,
      leaseMs,
      grant: (name, signal) =>
        this.#retry(() => {
          signal.throwIfAborted();
          return this.#grant(name);
        }),
      renew: (ref, until) => this.#renew(ref, until),
      release: (ref) => this.#retry(() => this.#renew(ref, 0), RELEASE_DEADLINE_MS),
    });
    this.acquire = leases.acquire;
    this.close = () => leases.releaseAll();
    this.#statements = {
      find: db.prepare<[string], LeaseRow>("SELECT * FROM leases WHERE name = ?"),
      under: db.prepare<[string, string], LeaseRow>(
        "SELECT * FROM leases WHERE substr(name, 1, length(?)) = ?",
      ),
      grant: db.prepare<[GrantTerms], number>(GRANT).pluck(),
      renew: db.prepare<[number, string, number]>(
        "UPDATE leases SET expires_at = ? WHERE name = ? AND token = ?",
      ),
      remove: db.prepare<[string]>("DELETE FROM leases WHERE name = ?"),
      rememberForgotten: db.prepare<[{ readonly token: number }]>(REMEMBER_FORGOTTEN),
    };
  }

  holder(lockName: string): Promise<LeaseRef | undefined> {
    return this.#retry(() => {
      const row = this.#statements.find.get(lockName);
      return row !== undefined && this.#isHeld(row) ? { lockName, token: row.token } : undefined;
    });
  }

  /** @throws {LilyError} `lease_lost` when `ref` is not the newest grant of its lock */
  assertHeld(ref: LeaseRef): void {
    assertNewest(ref, this.#statements.find.get(ref.lockName)?.token);
  }

  /** Forgets the locks whose names begin with `prefix` and that nobody holds; how many. */
  forget(prefix: string): Promise<number> {
    const forgetAll = this.#db.transaction(() => {
      const rows = this.#statements.under.all(prefix, prefix).filter((row) => !this.#isHeld(row));
      for (const { name, token } of rows) {
        this.#statements.rememberForgotten.run({ token });
        this.#statements.remove.run(name);
      }
      return rows.length;
    });
    return this.#retry(() => forgetAll.immediate());
  }

  #isHeld(row: LeaseRow): boolean {
    return row.expires_at > this.#clock.now() && !isProcessGone(row, this.#self);
  }

  #grant(name: string): number | undefined {
    // Looking first keeps those who wait from taking turns at the write lock.
    const row = this.#statements.find.get(name);
    if (row !== undefined && this.#isHeld(row)) return undefined;
    const now = this.#clock.now();
    const terms = { name, now, expiresAt: now + this.#leaseMs, goneToken: row?.token ?? null };
    return this.#unsynced(() => this.#statements.grant.get({ ...this.#self, ...terms }));
  }

  /** Moves the end of a lease. @returns false when it is no longer the newest */
  #renew({ lockName, token }: LeaseRef, expiresAt: number): boolean {
    return this.#unsynced(() => this.#statements.renew.run(expiresAt, lockName, token).changes === 1);
  }

  /** A power loss that takes a lease back leaves nobody who holds it: the disk is not waited for. */
  #unsynced<T>(work: () => T): T {
    const usual = Number(this.#db.pragma("synchronous", { simple: true }));
    this.#db.pragma("synchronous = NORMAL");
    try {
      return work();
    } finally {
      this.#db.pragma(`synchronous = ${usual}`);
    }
  }

  #retry<T>(work: () => T, deadlineMs = 10_000): Promise<T> {
    return retryBusy(work, { file: this.#db.name, deadlineMs });
  }
}
