/** A durable LangGraph `BaseStore` in one SQLite file, with full-text search. */
import type { BaseStore, Operation, OperationResults } from "@langchain/langgraph-checkpoint";
import type { Database, Transaction } from "better-sqlite3";
import type { Clock } from "#src/kernel/clock.ts";
import { DirectStore, StoreView } from "../direct-store.ts";
import type { IndexFields } from "../index-fields.ts";
import type { Namespace } from "../namespace.ts";
import { planBatch, runBatch, type BatchPlan, type ItemChange, type StoreEngine } from "../operations.ts";
import { migrate } from "./migrate.ts";
import { retryBusy } from "./retry-busy.ts";
import { readItem, readNamespaces, searchItems } from "./store-reader.ts";
import { STORE_SCHEMA } from "./store-schema.ts";
import { prepareStatements, type StoreStatements } from "./store-statements.ts";
import { deleteItem, putItem } from "./store-writer.ts";

/** Options of {@link SqliteStore}. */
export interface SqliteStoreOptions {
  /** Gives `createdAt` and `updatedAt`. */
  readonly clock: Clock;
  /**
   * What is indexed when a `put` does not say; by default every string (`["$"]`). By namespace if it is a function:
   * inside a graph node LangGraph drops the `index` argument of `put`, so only this can keep a namespace out.
   */
  readonly index?: IndexFields | ((namespace: Namespace) => IndexFields);
  /** Whether a write there has to survive a power loss once it is answered; by default every one. */
  readonly isDurable?: (namespace: Namespace) => boolean;
  /** Longest wait for a lock in milliseconds before `storage_busy`; 10 s by default. */
  readonly busyDeadlineMs?: number;
}

/** Called inside the transaction of a batch that writes, before anything is written; throws to refuse it. */
export type WriteGuard = () => void;

type RunInTransaction = Transaction<(work: () => unknown[]) => unknown[]>;

/**
 * The store. A batch is one transaction: it happens as a whole or not at all, and its reads see the state before its
 * writes. What goes in and out are copies. Errors of SQLite arrive as `LilyError`s that name the file; a locked file
 * is waited for without blocking the event loop.
 *
 * Search gives the order of `InMemoryStore`, or the best match first when there is a `query`; `query` finds items that
 * hold any of its words in an indexed field, and nothing when it has no word. Scores compare within one answer only.
 */
export class SqliteStore extends DirectStore {
  readonly #db: Database;
  readonly #statements: StoreStatements;
  readonly #clock: Clock;
  readonly #index: (namespace: Namespace) => IndexFields;
  readonly #isDurable: (namespace: Namespace) => boolean;
  readonly #busyDeadlineMs: number;
  readonly #transaction: RunInTransaction;
  readonly #engine: StoreEngine;

  /** `db` comes from `openDatabase`; its tables are made if it has none. Whoever opened it closes it. */
  constructor(db: Database, options: SqliteStoreOptions) {
    super();
    migrate(db, STORE_SCHEMA);
    const { index = ["$"], isDurable = () => true, busyDeadlineMs = 10_000 } = options;
    this.#db = db;
    this.#clock = options.clock;
    this.#index = typeof index === "function" ? index : () => index;
    this.#isDurable = isDurable;
    this.#busyDeadlineMs = busyDeadlineMs;
    this.#statements = prepareStatements(db);
    this.#transaction = db.transaction((work: () => unknown[]) => work());
    this.#engine = {
      get: (ref) => readItem(this.#statements, ref),
      search: (query) => searchItems(this.#statements, query),
      listNamespaces: (query) => readNamespaces(this.#statements, query),
      change: (change) => this.#change(change),
    };
  }

  override batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    return this.#execute(operations);
  }

  /** This store, with writes that happen only if `guard` does not throw. Guard and write are one transaction. */
  withGuard(guard: WriteGuard): BaseStore {
    return new StoreView((operations) => this.#execute(operations, guard));
  }

  /**
   * Empties the write-ahead log into the file, so that nothing that was deleted is left on disk.
   *
   * @throws {LilyError} `storage_busy` when another connection reads for longer than the deadline.
   */
  async scrub(): Promise<void> {
    await this.#retry(() => {
      const [state] = this.#db.pragma("wal_checkpoint(TRUNCATE)") as { readonly busy: number }[];
      if (state?.busy === 1)
        throw Object.assign(new Error("a reader holds the log"), { code: "SQLITE_BUSY" });
    });
  }

  async #execute<Op extends Operation[]>(operations: Op, guard?: WriteGuard): Promise<OperationResults<Op>> {
    const plan = planBatch(operations);
    const results = await this.#retry(() => this.#run(plan, guard));
    return results as OperationResults<Op>;
  }

  #run(plan: BatchPlan, guard: WriteGuard | undefined): unknown[] {
    if (plan.changes.length === 0) {
      // One statement is its own transaction.
      if (plan.isOneGet) return runBatch(this.#engine, plan);
      return this.#transaction.deferred(() => runBatch(this.#engine, plan));
    }
    return this.#synchronized(plan.changes, () =>
      this.#transaction.immediate(() => {
        guard?.();
        return runBatch(this.#engine, plan);
      }),
    );
  }

  /** The log is one file: a write that is waited for takes those before it to the disk with it. */
  #synchronized<T>(changes: readonly ItemChange[], write: () => T): T {
    if (!changes.some(({ namespace }) => this.#isDurable(namespace))) return write();
    this.#db.pragma("synchronous = FULL");
    try {
      return write();
    } finally {
      this.#db.pragma("synchronous = NORMAL");
    }
  }

  #change(change: ItemChange): void {
    if (change.json === null) return deleteItem(this.#statements, change);
    const fields = change.index ?? this.#index(change.namespace);
    return putItem(this.#statements, change, change.json, { fields, now: Math.trunc(this.#clock.now()) });
  }

  #retry<T>(work: () => T): Promise<T> {
    return retryBusy(work, { file: this.#db.name, deadlineMs: this.#busyDeadlineMs });
  }
}
