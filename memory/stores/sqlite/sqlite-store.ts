/** A durable LangGraph `BaseStore` in one SQLite file, with full-text search. */
import type { BaseStore, Operation, OperationResults } from "@langchain/langgraph-checkpoint";
import type { Database, Transaction } from "better-sqlite3";
import { createQueryVectors, type QueryVectors } from "#memory/embedding/query-vectors.ts";
import type { Clock } from "#src/kernel/clock.ts";
import { DirectStore, StoreView } from "../direct-store.ts";
import type { IndexFields } from "../index-fields.ts";
import type { Namespace } from "../namespace.ts";
import { planBatch, runBatch, type BatchPlan, type ItemChange, type StoreEngine } from "../operations.ts";
import { LogSync, type LogFiles } from "./log-sync.ts";
import { migrate } from "./migrate.ts";
import { retryBusy } from "./retry-busy.ts";
import { readItem, readNamespaces, searchItems, type QuestionVectors } from "./store-reader.ts";
import { STORE_SCHEMA } from "./store-schema.ts";
import { prepareStatements, type StoreStatements } from "./store-statements.ts";
import { deleteItem, putItem } from "./store-writer.ts";
import { textHash } from "./vector-bytes.ts";
import { fillMissing, type FillReport } from "./vector-fill.ts";
import { VectorIndex, type EmbedOptions } from "./vector-index.ts";

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
  /** How the write-ahead log is reached; the file system's by default. */
  readonly logFiles?: LogFiles;
  /** Search by meaning beside words. Left out, items are found by their words alone. */
  readonly embed?: EmbedOptions & { readonly queryDeadlineMs?: number };
}

/** Options of {@link SqliteStore.withGuard}. */
export interface GuardOptions {
  /** What has to survive a power loss need not when a write is answered, but when {@link SqliteStore.synced} has. */
  readonly syncsLater?: boolean;
}

/** Called inside the transaction of a batch that writes, before anything is written; throws to refuse it. */
export type WriteGuard = () => void;

interface GuardedWrite extends GuardOptions {
  readonly guard?: WriteGuard;
}

type RunInTransaction = Transaction<(work: () => unknown[]) => unknown[]>;

/**
 * The store. A batch is one transaction: it happens as a whole or not at all, and its reads see the state before its
 * writes. What goes in and out are copies. Errors of SQLite arrive as `LilyError`s that name the file; a locked file
 * is waited for without blocking the event loop.
 *
 * Search gives the order of `InMemoryStore`, or the best match first when there is a `query`; `query` finds items that
 * hold any of its words in an indexed field, and nothing when it has no word. Scores compare within one answer only:
 * they are those of BM25, above 0 and without an end.
 *
 * With `embed`, and once {@link fillVectors} has made vectors, `query` finds also what means the same in other words, and
 * a score is the share of the best score by words, plus the cosine: 0 to 2. Where the embedder gives no vector in time,
 * and in a batch that also writes, which must not wait for it, the answer is that by words alone.
 */
export class SqliteStore extends DirectStore {
  readonly #db: Database;
  readonly #statements: StoreStatements;
  readonly #clock: Clock;
  readonly #index: (namespace: Namespace) => IndexFields;
  readonly #isDurable: (namespace: Namespace) => boolean;
  readonly #busyDeadlineMs: number;
  readonly #transaction: RunInTransaction;
  readonly #log: LogSync;
  readonly #vectors: VectorIndex | undefined;
  readonly #queryVectors: QueryVectors | undefined;
  /** Finds by words alone. */
  readonly #engine = this.#engineWith(undefined);

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
    this.#log = new LogSync(db.name, options.logFiles);
    this.#statements = prepareStatements(db);
    this.#transaction = db.transaction((work: () => unknown[]) => work());
    if (options.embed === undefined) return;
    const { embedder, queryDeadlineMs: deadlineMs } = options.embed;
    this.#vectors = new VectorIndex(db, options.embed);
    this.#queryVectors = createQueryVectors(embedder, {
      clock: options.clock,
      ...(deadlineMs === undefined ? {} : { deadlineMs }),
    });
  }

  override batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    return this.#execute(operations);
  }

  /** This store, with writes that happen only if `guard` does not throw. Guard and write are one transaction. */
  withGuard(guard: WriteGuard, { syncsLater = false }: GuardOptions = {}): BaseStore {
    return new StoreView((operations) => this.#execute(operations, { guard, syncsLater }));
  }

  /**
   * Resolves when all that was written until now, and has to, survives a power loss.
   *
   * @throws {LilyError} a storage error when the disk has not taken it
   */
  synced(): Promise<void> {
    return this.#log.done();
  }

  /** To be called before the database is closed. Idempotent. */
  close(): Promise<void> {
    return this.#log.close();
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

  /**
   * Makes vectors for at most `limit` items that lack one: they are new, their text or the embedder has changed. Without
   * an embedder there is nothing to do.
   *
   * @throws {LilyError} `embedding_failed` when the embedder is down; what was made until then is kept.
   */
  async fillVectors(limit: number): Promise<FillReport> {
    if (this.#vectors === undefined) return { embedded: 0, withoutText: 0, refused: 0, left: 0 };
    return fillMissing(this.#vectors, limit, (work) => this.#retry(work));
  }

  async #execute<Op extends Operation[]>(
    operations: Op,
    write: GuardedWrite = {},
  ): Promise<OperationResults<Op>> {
    const plan = planBatch(operations);
    const asks = this.#vectors !== undefined && plan.changes.length === 0;
    const engine = asks ? this.#engineWith(await this.#questionsIn(operations)) : this.#engine;
    const results = await this.#retry(() => this.#run(plan, engine, write));
    return results as OperationResults<Op>;
  }

  #engineWith(questions: QuestionVectors | undefined): StoreEngine {
    return {
      get: (ref) => readItem(this.#statements, ref),
      search: (query) => searchItems(this.#statements, query, questions),
      listNamespaces: (query) => readNamespaces(this.#statements, query),
      change: (change) => this.#change(change),
    };
  }

  #run(plan: BatchPlan, engine: StoreEngine, { guard, syncsLater = false }: GuardedWrite): unknown[] {
    if (plan.isOneStatement) return runBatch(engine, plan);
    if (plan.changes.length === 0) return this.#transaction.deferred(() => runBatch(engine, plan));
    const commit = (): unknown[] =>
      this.#transaction.immediate(() => {
        guard?.();
        return runBatch(engine, plan);
      });
    if (!plan.changes.some(({ namespace }) => this.#isDurable(namespace))) return commit();
    return syncsLater && this.#log.isReady ? this.#syncedLater(commit) : this.#synced(commit);
  }

  /** The vectors of what is asked, made before the transaction: nothing waits for an embedder inside one. */
  async #questionsIn(operations: readonly Operation[]): Promise<QuestionVectors | undefined> {
    const index = this.#vectors;
    const vectorOf = this.#queryVectors;
    const texts = [...new Set(operations.flatMap(questionOf))];
    if (index === undefined || vectorOf === undefined || texts.length === 0) return undefined;
    if (!(await this.#retry(() => index.hasVectors()))) return undefined;
    const byText = new Map<string, Float32Array>();
    for (const text of texts) {
      const vector = await vectorOf(text);
      if (vector !== undefined) byText.set(text, vector);
    }
    return { index, byText };
  }

  /** The log is one file: a write that is waited for takes those before it to the disk with it. */
  #synced<T>(commit: () => T): T {
    this.#db.pragma("synchronous = FULL");
    try {
      const result = commit();
      this.#log.open();
      return result;
    } finally {
      this.#db.pragma("synchronous = NORMAL");
    }
  }

  #syncedLater<T>(commit: () => T): T {
    const result = commit();
    this.#log.begin();
    return result;
  }

  #change(change: ItemChange): void {
    if (change.json === null) return deleteItem(this.#statements, change);
    const fields = change.index ?? this.#index(change.namespace);
    const { json } = change;
    const keepsVector = (id: number) => this.#keepsVector(id, change.namespace, json);
    return putItem(this.#statements, change, json, {
      fields,
      now: Math.trunc(this.#clock.now()),
      keepsVector,
    });
  }

  /** Without an embedder nobody knows which part of the value its vector was made of. */
  #keepsVector(id: number, namespace: Namespace, json: string): boolean {
    if (this.#vectors === undefined) return this.#statements.valueOf.get(id) === json;
    const text = this.#vectors.textOf(namespace, json);
    const hash = this.#statements.vectorTextHash.get(id);
    return hash === undefined ? text === "" : hash.equals(textHash(text));
  }

  #retry<T>(work: () => T): Promise<T> {
    return retryBusy(work, { file: this.#db.name, deadlineMs: this.#busyDeadlineMs });
  }
}

function questionOf(operation: Operation): string[] {
  return "namespacePrefix" in operation && operation.query !== undefined ? [operation.query] : [];
}
