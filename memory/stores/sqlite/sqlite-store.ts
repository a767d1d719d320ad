/** A durable LangGraph `BaseStore` in one SQLite file, with full-text search and, with an embedder, search by meaning. */
import type { SearchItem } from "@langchain/langgraph-checkpoint";
import type { Database, Transaction } from "better-sqlite3";
import * as sqliteVec from "sqlite-vec";
import type { DueItem, Questions } from "#memory/embedding/vectors.ts";
import { LilyError } from "#src/kernel/errors.ts";
import {
  DurableStore,
  toItem,
  type BatchRun,
  type DueQuery,
  type DurableStoreOptions,
  type MadeVector,
} from "../durable-store.ts";
import { fuse } from "../fuse.ts";
import { commonPath, selectNamespaces } from "../namespace.ts";
import type { ItemChange, SearchQuery, StoreReads } from "../operations.ts";
import { ItemTable, type RankedRow } from "./item-table.ts";
import { migrate } from "./migrate.ts";
import { retryBusy } from "../storage-errors.ts";
import { STORE_SCHEMA } from "./store-schema.ts";
import { toMatchQuery } from "./text-tables.ts";

/** Options of {@link SqliteStore}. */
export interface SqliteStoreOptions extends DurableStoreOptions {
  /** Longest wait for a lock in milliseconds before `storage_busy`; 10 s by default. */
  readonly busyDeadlineMs?: number;
}

/**
 * As {@link DurableStore}. Errors of SQLite arrive as `LilyError`s that name the file; a locked file is waited for without
 * blocking the event loop. Scores by words alone are those of BM25, without an end.
 */
export class SqliteStore extends DurableStore<() => void> {
  readonly #db: Database;
  readonly #items: ItemTable;
  readonly #busyDeadlineMs: number;
  readonly #transaction: Transaction<(work: () => unknown) => unknown>;

  /**
   * `db` comes from `openDatabase`; its tables are made if it has none. Whoever opened it closes it.
   *
   * @throws {LilyError} `config_invalid` where there is an embedder and sqlite-vec does not run.
   */
  constructor(db: Database, { busyDeadlineMs = 10_000, ...options }: SqliteStoreOptions) {
    super(options);
    migrate(db, STORE_SCHEMA);
    if (this.embedder !== undefined) loadExtension(db);
    this.#db = db;
    this.#items = new ItemTable(db);
    this.#busyDeadlineMs = busyDeadlineMs;
    this.#transaction = db.transaction((work: () => unknown) => work());
  }

  protected run({ reads, changes, questions, guard }: BatchRun<() => void>): Promise<unknown[]> {
    const store: StoreReads = {
      get: (ref) => {
        const row = this.#items.get(ref);
        return row === undefined ? null : toItem(row);
      },
      search: (query) => this.#search(query, questions),
      listNamespaces: (query) =>
        // An iterator that is made and never read would keep its statement busy.
        query.limit === 0 ? [] : selectNamespaces(this.#items.paths(commonPath(query)), query),
    };
    return this.#retry(() => {
      if (changes.length === 0) return this.#transaction.deferred(() => reads.map((read) => read(store)));
      return this.#transaction.immediate(() => {
        guard?.();
        const results = reads.map((read) => read(store));
        for (const change of changes) this.#change(change);
        return results;
      });
    }) as Promise<unknown[]>;
  }

  #search(search: SearchQuery, questions: Questions): SearchItem[] {
    const { path, query, limit } = search;
    if (limit === 0) return [];
    if (query !== undefined) {
      return page(this.#rank(query, path, questions.get(query)), search, ({ id, score }) => {
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
    if (vector === undefined || this.embedder === undefined) return found;
    return fuse(
      new Map(Array.from(found, ({ id, score }) => [id, score])),
      this.#items.similarities(vector, path, this.embedder.model),
    );
  }

  #change(change: ItemChange): void {
    const { json } = change;
    if (json === null) return this.#items.delete(change);
    this.#items.put(change, { json, fields: this.fieldsOf(change), now: Math.trunc(this.clock.now()) });
  }

  protected hasVectors(model: string): Promise<boolean> {
    return this.#retry(() => this.#items.hasVectors(model));
  }

  protected dueVectors(query: DueQuery): Promise<DueItem[]> {
    return this.#retry(() => this.#items.dueVectors(query));
  }

  protected async putVectors(made: readonly MadeVector[]): Promise<void> {
    const put = () => made.forEach((one) => this.#items.putVector(one));
    await this.#retry(() => this.#transaction.immediate(put));
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

function loadExtension(db: Database): void {
  try {
    sqliteVec.load(db);
  } catch (error) {
    throw new LilyError(
      "config_invalid",
      "sqlite-vec, which compares vectors, does not run on this machine",
      {
        next: "Set memory.embedder to none: search then goes by words.",
        cause: error,
      },
    );
  }
}
