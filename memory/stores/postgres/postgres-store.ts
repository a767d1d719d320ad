/**
 * A durable LangGraph `BaseStore` in PostgreSQL, with search by words.
 *
 * It takes the place of `PostgresStore` of `@langchain/langgraph-checkpoint-postgres`, of which a wrapper would have to
 * do everything again: it joins labels with ":" and finds a prefix by a bare LIKE (`user1` gives `user10`), refuses `%`,
 * `_` and the empty prefix, keeps values as jsonb (no NUL, other order), compares filters as text, drops the order of
 * items, commits each operation of a batch by itself, and has no room for a check in the transaction of a write.
 */
import type { BaseStore, Operation, OperationResults } from "@langchain/langgraph-checkpoint";
import type { Pool } from "pg";
import type { Clock } from "#src/kernel/clock.ts";
import { DirectStore, StoreView } from "../direct-store.ts";
import type { IndexFields } from "../index-fields.ts";
import type { Namespace } from "../namespace.ts";
import { planBatch, type BatchPlan } from "../operations.ts";
import { readsOf, type BatchRead } from "./batch-reads.ts";
import { retryConflicts, withServer } from "./postgres-errors.ts";
import type { Queryable } from "./read-context.ts";
import { isSingleStatement, runRead } from "./store-reader.ts";
import { storeStatements, type StoreStatements } from "./store-statements.ts";
import { writeChanges } from "./store-writer.ts";
import { inTransaction } from "./transactions.ts";

/** Options of {@link PostgresStore}. */
export interface PostgresStoreOptions {
  /** Gives `createdAt` and `updatedAt`. */
  readonly clock: Clock;
  /** Where `setUpStore` made the tables; `public` by default. */
  readonly schema?: string;
  /** The server's name in error messages, without a password. */
  readonly server: string;
  /** What is indexed when a `put` does not say; by default every string (`["$"]`). By namespace if it is a function. */
  readonly index?: IndexFields | ((namespace: Namespace) => IndexFields);
}

/** Called inside the transaction of a batch that writes, before anything is written; throws to refuse it. */
export type WriteGuard = (client: Queryable) => Promise<void>;

/**
 * The store. A batch is one transaction: it happens as a whole or not at all, and its reads see the state before its
 * writes; the reads of a batch that writes nothing see one state. What goes in and out are copies. Errors of PostgreSQL
 * arrive as `LilyError`s that name the server; a deadlock is tried again.
 *
 * Search gives the order of `InMemoryStore`, or the best match first when there is a `query`; `query` finds items that
 * share a word with an indexed field, and nothing when it has no word that carries a topic. Scores compare within one
 * answer only. Every item that shares a word is read to rank it.
 */
export class PostgresStore extends DirectStore {
  readonly #pool: Pool;
  readonly #clock: Clock;
  readonly #server: string;
  readonly #index: (namespace: Namespace) => IndexFields;
  readonly #statements: StoreStatements;

  /** The tables have to exist. Whoever made the pool ends it. */
  constructor(pool: Pool, options: PostgresStoreOptions) {
    super();
    const { index = ["$"], schema = "public" } = options;
    this.#pool = pool;
    this.#clock = options.clock;
    this.#server = options.server;
    this.#index = typeof index === "function" ? index : () => index;
    this.#statements = storeStatements(schema);
  }

  override batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    return this.#execute(operations);
  }

  /** This store, with writes that happen only if `guard` does not throw. Guard and write are one transaction. */
  withGuard(guard: WriteGuard): BaseStore {
    return new StoreView((operations) => this.#execute(operations, guard));
  }

  async #execute<Op extends Operation[]>(operations: Op, guard?: WriteGuard): Promise<OperationResults<Op>> {
    const plan = planBatch(operations);
    const results = await withServer(this.#server, () => retryConflicts(() => this.#run(plan, guard)));
    return results as OperationResults<Op>;
  }

  #run(plan: BatchPlan, guard: WriteGuard | undefined): Promise<unknown[]> {
    const reads = readsOf(plan);
    if (plan.changes.length > 0) return this.#write(plan, reads, guard);
    if (reads.length === 1 && reads.every(isSingleStatement)) return this.#read(this.#pool, reads);
    return inTransaction(this.#pool, "snapshot", (client) => this.#read(client, reads));
  }

  #write(plan: BatchPlan, reads: readonly BatchRead[], guard: WriteGuard | undefined): Promise<unknown[]> {
    return this.#inWrite(plan, guard, async (client) => {
      await guard?.(client);
      const results = await this.#read(client, reads);
      const now = Math.trunc(this.#clock.now());
      await writeChanges({ client, statements: this.#statements, now, index: this.#index }, plan.changes);
      return results;
    });
  }

  // A put by itself is one statement, which is a transaction without being told so.
  #inWrite<T>(
    plan: BatchPlan,
    guard: WriteGuard | undefined,
    work: (client: Queryable) => Promise<T>,
  ): Promise<T> {
    const isOnePut = plan.reads.length === 1 && plan.changes.every((change) => change.json !== null);
    if (isOnePut && guard === undefined) return work(this.#pool);
    return inTransaction(this.#pool, "write", work);
  }

  async #read(client: Queryable, reads: readonly BatchRead[]): Promise<unknown[]> {
    const results: unknown[] = [];
    for (const read of reads) {
      results.push(await runRead({ client, statements: this.#statements }, read));
    }
    return results;
  }
}
