/** The storage port: what a backend has to provide so that sessions, turns and memory can live on it. */
import type { BaseCheckpointSaver, BaseStore } from "@langchain/langgraph-checkpoint";

/** Everything that Lily keeps, behind one handle. */
export interface StorageBackend {
  /** Name for status output: `sqlite`, `memory`. */
  readonly name: string;
  /** Where the data lies, for a person to read. */
  readonly location: string;
  /** What the person who opened it is told, once. */
  readonly notice?: string;
  /** Execution state, one thread a session. It may be thrown away between two turns. */
  readonly checkpointer: SessionSaver;
  /** Transcripts, chains, deliveries, explanations and memory. */
  readonly store: BaseStore;
  /** Turns on one key, one at a time, across processes. */
  readonly locks: KeyLock;
  /** Makes at most `limit` vectors that the store lacks, and says whether some may be left; absent where there is no embedder. */
  readonly fillVectors?: (limit: number) => Promise<boolean>;
  /**
   * The same store, whose writes fail once `lease` is no longer the newest lease of its key. Reads are not checked.
   * The check and the write are one transaction where the backend has transactions.
   */
  readonly fencedStore: (lease: LeaseRef) => BaseStore;
  /** What only the backend can do when something is erased; absent where nothing is kept. */
  readonly erasure?: StorageErasure;
  /** Gives held leases back, closes files and timers. Idempotent. Nobody should be waiting for a lock any more. */
  close(): Promise<void>;
}

/** Names a lease in a write: which key, and the token it was granted with. */
export interface LeaseRef {
  readonly lockName: string;
  /** Fencing token: grows with every grant of the same lock. */
  readonly token: number;
}

/** A granted lock that ends by itself when its holder stops renewing it. */
export interface Lease extends LeaseRef {
  /** Aborted when the lease is known to be lost. */
  readonly lost: AbortSignal;
  /** Gives the lock back. Idempotent; a lease that was lost is not an error. */
  release(): Promise<void>;
}

/** Options of {@link KeyLock.acquire}. */
export interface AcquireOptions {
  /** Gives up waiting. */
  readonly signal?: AbortSignal;
  /** Longest wait in milliseconds before `lease_timeout`. */
  readonly waitMs?: number;
  /** Called once when the lock is not free at once. */
  readonly onWait?: () => void;
}

/** Mutual exclusion by name, across processes where the backend is shared by processes. */
export interface KeyLock {
  /**
   * Waits for the lock and renews it in the background until it is released.
   * Waiters inside one process are served in the order in which they asked.
   *
   * @throws {LilyError} `lease_timeout` when `waitMs` is over; the signal's reason when it is aborted.
   */
  acquire(lockName: string, options?: AcquireOptions): Promise<Lease>;
  /**
   * The lease under which somebody holds the lock now, in whatever process; `undefined` when it is free. It may be over
   * by the time it is read.
   */
  holder(lockName: string): Promise<LeaseRef | undefined>;
}

/** A LangGraph checkpointer that keeps a thread small, and that is no reason for a conversation to end. */
export interface SessionSaver extends BaseCheckpointSaver {
  /** Deletes all checkpoints of a thread but the `count` that were put last. @returns how many went */
  retain(threadId: string, count: number): Promise<number>;
  /** Whether checkpoints of the thread could not be read and were dropped, since this was asked last. */
  takeDropped(threadId: string): boolean;
}

/** The backend's part of an erasure. */
export interface StorageErasure {
  /** Makes what lies on disk hold nothing that was deleted. What it could not do is told, not thrown. */
  scrub(): Promise<ScrubReport>;
  /**
   * Forgets the locks whose names begin with `prefix`, of which the caller holds none any more; how many. A token that
   * was granted before is never granted again. Locks that are held are passed over.
   */
  forgetLocks(prefix: string): Promise<number>;
  /** Why the database's own log may go on holding what was deleted; absent where `scrub` empties it. */
  readonly logKeeps?: string;
}

/** What came of a scrub. */
export type ScrubReport =
  | { readonly outcome: "done"; readonly files: number }
  | { readonly outcome: "unfinished" | "not_supported"; readonly why: string };
