/** A durable LangGraph `BaseStore` in one SQLite file, with full-text search and, with an embedder, search by meaning. */
import type { SearchItem } from "@langchain/langgraph-checkpoint";
import type { Database, Transaction } from "better-sqlite3";
import * as sqliteVec from "sqlite-vec";
import type { DueItem, Questions } from "#memory/embedding/vectors.ts";
import { LilyError } from "#src/kernel/errors.ts";
import {
  bytesOf,
  DurableStore,
  fuse,
  page,
  toItem,
  type BatchRun,
  type DueQuery,
  type DurableStoreOptions,
  type MadeVector,
} from "../durable-store.ts";
import { indexedTexts, type IndexedTexts } from "../index-fields.ts";
import {
  commonPath,
  decodePath,
  endOfRange,
  selectNamespaces,
  type ItemChange,
  type ItemRef,
  type SearchQuery,
  type StoreReads,
} from "../operations.ts";
import { retryBusy } from "../storage-errors.ts";
import { migrate } from "./migrate.ts";
import { STORE_SCHEMA } from "./store-schema.ts";
import {
  prepareStatements,
  SIMILARITIES,
  type PathRange,
  type RankedRow,
  type StoredText,
} from "./store-statements.ts";
import { rootOf, TEXT_TABLES, textTableOf, toMatchQuery } from "./text-tables.ts";

/** To SQLite: all rows. */
const NO_LIMIT = -1;

/**
 * As {@link DurableStore}. Errors of SQLite arrive as `LilyError`s that name the file; a locked file is waited for without
 * blocking the event loop, for ten seconds at most. Scores by words alone are those of BM25, without an end.
 */
export class SqliteStore extends DurableStore<() => void> {
  readonly #db: Database;
  readonly #sql: ReturnType<typeof prepareStatements>;
  /** Made once: to make one takes longer than most batches. */
  readonly #transaction: Transaction<(work: () => unknown[]) => unknown[]>;

  /**
   * `db` comes from `openDatabase`; its tables are made if it has none. Whoever opened it closes it.
   *
   * @throws {LilyError} `config_invalid` where there is an embedder and sqlite-vec does not run.
   */
  constructor(db: Database, options: DurableStoreOptions) {
    super(options);
    migrate(db, STORE_SCHEMA);
    if (this.embedder !== undefined) loadExtension(db);
    this.#db = db;
    this.#sql = prepareStatements(db);
    this.#transaction = db.transaction((work: () => unknown[]) => work());
  }

  protected run({ reads, changes, questions, guard }: BatchRun<() => void>): Promise<unknown[]> {
    const store: StoreReads = {
      get: ({ path, key }) => {
        const row = this.#sql.get.get(path, key);
        return row === undefined ? null : toItem(row);
      },
      search: (query) => this.#search(query, questions),
      listNamespaces: (query) =>
        selectNamespaces(this.#sql.paths.iterate(...rangeOf(commonPath(query))), query),
    };
    const work = (): unknown[] => {
      if (changes.length > 0) guard?.();
      const results = reads.map((read) => read(store));
      for (const change of changes) {
        if (change.json === null) this.#delete(change);
        else this.#put(change, change.json);
      }
      return results;
    };
    return this.#retry(() =>
      changes.length > 0 ? this.#transaction.immediate(work) : this.#transaction.deferred(work),
    );
  }

  /** Without a query: namespaces in the order in which they were first used, in each the items as they were first put. */
  #search(search: SearchQuery, questions: Questions): SearchItem[] {
    const { path, query, filter, limit, offset } = search;
    if (query !== undefined) {
      return page(this.#rank(query, path, questions.get(query)), search, ({ id, score }) => {
        const row = this.#sql.getById.get(id);
        return row === undefined ? undefined : { ...toItem(row), score };
      });
    }
    if (filter === undefined) return this.#sql.list.all(...rangeOf(path), limit, offset).map(toItem);
    return page(this.#sql.list.iterate(...rangeOf(path), NO_LIMIT, 0), search, toItem);
  }

  #rank(query: string, path: string, vector: Float32Array | undefined): Iterable<RankedRow> {
    const match = toMatchQuery(query);
    // Also by meaning: what holds no word asks for nothing, and every vector is a little like any other.
    if (match === undefined) return [];
    const found = this.#match(match, path);
    if (vector === undefined || this.embedder === undefined) return found;
    // Prepared when it is needed: its function is that of an extension.
    const similar = this.#db
      .prepare<[Buffer, ...PathRange, string, number], RankedRow>(SIMILARITIES)
      .all(bytesOf(vector), ...rangeOf(path), this.embedder.model, vector.byteLength);
    const scores = (rows: Iterable<RankedRow>) => new Map(Array.from(rows, ({ id, score }) => [id, score]));
    return fuse(scores(found), scores(similar));
  }

  /** Items that an FTS5 query finds, best first, equals in the order in which they were put; read as they are asked for. */
  #match(match: string, path: string): Iterable<RankedRow> {
    const range = rangeOf(path);
    if (path !== "") return this.#sql.texts[textTableOf(path)].find.iterate(match, ...range);
    // Each index knows only how rare a word is in itself: across them the order is a rough one.
    return TEXT_TABLES.flatMap((table) => this.#sql.texts[table].find.all(match, ...range)).sort(
      (a, b) => b.score - a.score || a.id - b.id,
    );
  }

  /** An item that exists keeps its place, its id and `createdAt`, and its vector if its text is the same. */
  #put(change: ItemChange, json: string): void {
    const { path, key } = change;
    const now = Math.trunc(this.clock.now());
    const fields = this.fieldsOf(change);
    const found = indexedTexts(json, fields, rootOf(path));
    const indexed = isEmpty(found) ? null : JSON.stringify(fields);
    const texts = this.#sql.texts[textTableOf(path)];
    const namespaceId =
      this.#sql.findNamespace.get(path) ?? Number(this.#sql.addNamespace.run(path).lastInsertRowid);
    const stored = this.#sql.find.get(namespaceId, key);
    if (stored === undefined) {
      const { lastInsertRowid } = this.#sql.add.run(namespaceId, key, now, now, indexed, json);
      if (!isEmpty(found)) texts.add.run(lastInsertRowid, ...found);
      return;
    }
    const before = textsBefore(stored, path);
    this.#sql.update.run(now, indexed, json, stored.id);
    if (before[0] === found[0] && before[1] === found[1]) return;
    if (!isEmpty(before)) texts.remove.run(stored.id, ...before);
    if (!isEmpty(found)) texts.add.run(stored.id, ...found);
    this.#sql.dropVector.run(stored.id);
  }

  /** With the item go its words, and its namespace if that was the last one in it. */
  #delete({ path, key }: ItemRef): void {
    const namespaceId = this.#sql.findNamespace.get(path);
    const stored = namespaceId === undefined ? undefined : this.#sql.find.get(namespaceId, key);
    if (namespaceId === undefined || stored === undefined) return;
    const texts = textsBefore(stored, path);
    if (!isEmpty(texts)) this.#sql.texts[textTableOf(path)].remove.run(stored.id, ...texts);
    this.#sql.delete.run(stored.id);
    this.#sql.dropEmptyNamespace.run(namespaceId, namespaceId);
  }

  protected hasVectors(model: string): Promise<boolean> {
    return this.#retry(() => this.#sql.anyVector.get(model) !== undefined);
  }

  protected dueVectors({ model, bytes, isEmbedded, limit }: DueQuery): Promise<DueItem[]> {
    return this.#retry(() => {
      const embedded = this.#sql.namespaces.all().filter(({ path }) => isEmbedded(decodePath(path)));
      return this.#sql.due.all(JSON.stringify(embedded.map(({ id }) => id)), model, bytes, limit);
    });
  }

  protected async putVectors(made: readonly MadeVector[]): Promise<void> {
    const put = this.#db.transaction(() => {
      for (const { id, value, fields, model, bytes } of made)
        if (this.#sql.isPresent.get(id, value, fields) !== undefined)
          this.#sql.putVector.run(id, model, bytes);
    });
    await this.#retry(put.immediate);
  }

  #retry<T>(work: () => T): Promise<T> {
    return retryBusy(work, { file: this.#db.name });
  }
}

/** The range of paths that begin with the labels of `path`, and no others. To SQLite every blob is greater than every text. */
function rangeOf(path: string): PathRange {
  return [path, path === "" ? Buffer.alloc(0) : endOfRange(path)];
}

function isEmpty([text, light]: IndexedTexts): boolean {
  return text === "" && light === "";
}

/** The texts under which a stored item was indexed, made again from its value. */
function textsBefore({ fields, value }: StoredText, path: string): IndexedTexts {
  return indexedTexts(value, fields === null ? false : (JSON.parse(fields) as string[]), rootOf(path));
}

function loadExtension(db: Database): void {
  try {
    sqliteVec.load(db);
  } catch (error) {
    throw new LilyError(
      "config_invalid",
      "sqlite-vec, which compares vectors, does not run on this machine",
      { next: "Set memory.embedder to none: search then goes by words.", cause: error },
    );
  }
}
