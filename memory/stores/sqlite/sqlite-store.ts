/** A durable LangGraph `BaseStore` in one SQLite file, with full-text search and, with an embedder, search by meaning. */
import type { BaseStore, Operation, OperationResults, SearchItem } from "@langchain/langgraph-checkpoint";
import type { Database, Transaction } from "better-sqlite3";
import {
  createQueryVectors,
  vectorsOfQuestions,
  type QueryVectors,
  type Questions,
} from "#memory/embedding/vectors.ts";
import { fuse } from "../fuse.ts";
import type { Clock } from "#src/kernel/clock.ts";
import { AtomicStore, StoreView } from "../atomic-store.ts";
import type { IndexFields, StoreIndex } from "../index-fields.ts";
import { commonPrefix, selectNamespaces, type NamespaceQuery } from "../namespace-list.ts";
import { encodePath, type Namespace } from "../namespace.ts";
import {
  planBatch,
  runBatch,
  type BatchPlan,
  type ItemChange,
  type SearchQuery,
  type StoreEngine,
} from "../operations.ts";
import { toItem } from "../stored-item.ts";
import { ItemTable, type RankedRow } from "./item-table.ts";
import { migrate } from "./migrate.ts";
import { retryBusy } from "./retry-busy.ts";
import { STORE_SCHEMA } from "./store-schema.ts";
import { toMatchQuery } from "./text-query.ts";
import { Vectors } from "./vectors.ts";

/** Options of {@link SqliteStore}. */
export interface SqliteStoreOptions {
  /** Gives `createdAt` and `updatedAt`. */
  readonly clock: Clock;
  readonly index?: StoreIndex;
  /** Longest wait for a lock in milliseconds before `storage_busy`; 10 s by default. */
  readonly busyDeadlineMs?: number;
}

/** Called inside the transaction of a batch that writes, before anything is written; throws to refuse it. */
export type WriteGuard = () => void;

/**
 * The store. A batch is one transaction: it happens as a whole or not at all, and its reads see the state before its
 * writes. What goes in and out are copies. Errors of SQLite arrive as `LilyError`s that name the file; a locked file
 * is waited for without blocking the event loop.
 *
 * Search gives the order of `InMemoryStore`, or the best match first when there is a `query`; `query` finds items that
 * hold any of its words in an indexed field, and nothing when it has no word. Scores compare within one answer only:
 * they are those of BM25, above 0 and without an end.
 *
 * With `index.embed`, and once {@link fillVectors} has made vectors, `query` finds also what means the same in other
 * words, and a score is the share of the best score by words, plus the cosine: 0 to 2. Where the embedder gives no vector
 * in time, and in a batch that also writes, which must not wait for it, the answer is that by words alone.
 */
export class SqliteStore extends AtomicStore {
  readonly #db: Database;
  readonly #items: ItemTable;
  readonly #clock: Clock;
  readonly #fields: (namespace: Namespace) => IndexFields;
  readonly #busyDeadlineMs: number;
  readonly #transaction: Transaction<(work: () => unknown[]) => unknown[]>;
  readonly #vectors: Vectors | undefined;
  readonly #queryVectors: QueryVectors | undefined;

  /** `db` comes from `openDatabase`; its tables are made if it has none. Whoever opened it closes it. */
  constructor(db: Database, { clock, index = {}, busyDeadlineMs = 10_000 }: SqliteStoreOptions) {
    super();
    migrate(db, STORE_SCHEMA);
    const { fields = ["$"], embed, isEmbedded = () => true } = index;
    this.#db = db;
    this.#items = new ItemTable(db);
    this.#clock = clock;
    this.#fields = typeof fields === "function" ? fields : () => fields;
    this.#busyDeadlineMs = busyDeadlineMs;
    this.#transaction = db.transaction((work: () => unknown[]) => work());
    if (embed === undefined) return;
    this.#vectors = new Vectors(db, embed, isEmbedded);
    this.#queryVectors = createQueryVectors(embed, { clock });
  }

  override batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    return this.#execute(operations);
  }

  /** This store, with writes that happen only if `guard` does not throw. Guard and write are one transaction. */
  withGuard(guard: WriteGuard): BaseStore {
    return new StoreView((operations) => this.#execute(operations, guard));
  }

  /**
   * Makes vectors for at most `limit` items that lack one: they are new, their text or the embedder has changed. Without
   * an embedder there is nothing to do.
   *
   * @throws {LilyError} `embedding_failed` when the embedder is down; what was made until then is kept.
   */
  async fillVectors(limit: number): Promise<{ readonly left: number }> {
    return (await this.#vectors?.fill(limit, (work) => this.#retry(work))) ?? { left: 0 };
  }

  async #execute<Op extends Operation[]>(operations: Op, guard?: WriteGuard): Promise<OperationResults<Op>> {
    const plan = planBatch(operations);
    const questions = plan.changes.length === 0 ? await this.#questionsIn(operations) : new Map();
    const results = await this.#retry(() => this.#run(plan, questions, guard));
    return results as OperationResults<Op>;
  }

  #run(plan: BatchPlan, questions: Questions, guard: WriteGuard | undefined): unknown[] {
    const engine: StoreEngine = {
      get: (ref) => {
        const row = this.#items.get(ref);
        return row === undefined ? null : toItem(row);
      },
      search: (query) => this.#search(query, questions),
      listNamespaces: (query) => this.#listNamespaces(query),
      change: (change) => this.#change(change),
    };
    if (plan.changes.length === 0) return this.#transaction.deferred(() => runBatch(engine, plan));
    return this.#transaction.immediate(() => {
      guard?.();
      return runBatch(engine, plan);
    });
  }

  async #questionsIn(operations: readonly Operation[]): Promise<Questions> {
    const vectors = this.#vectors;
    const vectorOf = this.#queryVectors;
    if (vectors === undefined || vectorOf === undefined) return new Map();
    return vectorsOfQuestions(operations, vectorOf, () => this.#retry(() => vectors.hasAny()));
  }

  #search(search: SearchQuery, questions: Questions): SearchItem[] {
    const path = encodePath(search.prefix);
    if (search.limit === 0) return [];
    if (search.query !== undefined) {
      const ranked = this.#rank(search.query, path, questions.get(search.query));
      return page(ranked, search, ({ id, score }) => {
        const row = this.#items.getById(id);
        return row === undefined ? undefined : { ...toItem(row), score };
      });
    }
    if (search.filter === undefined) return this.#items.list(path, search).map(toItem);
    return page(this.#items.iterate(path), search, toItem);
  }

  #rank(query: string, path: string, vector: Float32Array | undefined): Iterable<RankedRow> {
    const match = toMatchQuery(query);
    // Also by meaning: what holds no word asks for nothing, and every vector is a little like any other.
    if (match === undefined) return [];
    const found = this.#items.find(match, path);
    if (vector === undefined || this.#vectors === undefined) return found;
    return fuse(
      new Map(Array.from(found, ({ id, score }) => [id, score])),
      this.#vectors.similarities(vector, path),
    );
  }

  #listNamespaces(query: NamespaceQuery): string[][] {
    // An iterator that is made and never read would keep its statement busy.
    if (query.limit === 0) return [];
    return selectNamespaces(this.#items.paths(encodePath(commonPrefix(query))), query);
  }

  #change(change: ItemChange): void {
    if (change.json === null) return this.#items.delete(change);
    this.#items.put(change, {
      json: change.json,
      fields: change.index ?? this.#fields(change.namespace),
      now: Math.trunc(this.#clock.now()),
    });
  }

  #retry<T>(work: () => T): Promise<T> {
    return retryBusy(work, { file: this.#db.name, deadlineMs: this.#busyDeadlineMs });
  }
}

/** The items of a page that pass the filter; rows are read only as far as that demands. */
function page<Row>(
  rows: Iterable<Row>,
  { filter, limit, offset }: SearchQuery,
  read: (row: Row) => SearchItem | undefined,
): SearchItem[] {
  const items: SearchItem[] = [];
  let skipped = 0;
  for (const row of rows) {
    const item = read(row);
    if (item === undefined || filter?.(item.value) === false) continue;
    if (skipped < offset) skipped += 1;
    else items.push(item);
    if (items.length >= limit) break;
  }
  return items;
}
