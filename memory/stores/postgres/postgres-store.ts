/** A durable LangGraph `BaseStore` in PostgreSQL, with search by words and by meaning. Why not LangGraph's own: decision 0009. */
import type { SearchItem } from "@langchain/langgraph-checkpoint";
import type { DueItem, Questions } from "#memory/embedding/vectors.ts";
import { rankTexts, termsOf } from "#src/kernel/words.ts";
import {
  DurableStore,
  fuse,
  page,
  toItem,
  type BatchRun,
  type DueQuery,
  type DurableStoreOptions,
  type MadeVector,
} from "../durable-store.ts";
import { indexedTexts, MAX_QUERY_CHARACTERS, MAX_QUERY_TERMS, toSearchableText } from "../index-fields.ts";
import {
  commonPath,
  decodePath,
  endOfRange,
  selectNamespaces,
  type ItemChange,
  type SearchQuery,
  type StoreReads,
} from "../operations.ts";
import type { PostgresDatabase, Queryable } from "./postgres-database.ts";
import { storeStatements, type ItemRow } from "./store-tables.ts";

/** Called inside the transaction of a batch that writes, before anything is written; throws to refuse it. */
export type WriteGuard = (client: Queryable) => Promise<void>;

// An entry of the index has to fit on a third of a page; no word is longer, only bytes that were taken for text.
const MAX_TERM_CHARACTERS = 100;

/**
 * As {@link DurableStore}. The reads of a batch that writes nothing see one state. Errors and deadlocks: {@link PostgresDatabase}.
 *
 * A score by words alone is the share of the best one. Every item that shares a word is read to rank it, every item at or
 * below a prefix to filter it, and every vector there to compare it: in this process, so that the server needs no extension.
 */
export class PostgresStore extends DurableStore<WriteGuard> {
  readonly #database: PostgresDatabase;
  readonly #sql: ReturnType<typeof storeStatements>;

  /** `setUpStore` has to have made the tables. */
  constructor(database: PostgresDatabase, options: DurableStoreOptions) {
    super(options);
    this.#database = database;
    this.#sql = storeStatements(database.schema);
  }

  protected run({ reads, changes, questions, guard }: BatchRun<WriteGuard>): Promise<unknown[]> {
    const isWrite = changes.length > 0;
    const runOn = async (client: Queryable): Promise<unknown[]> => {
      if (isWrite) await guard?.(client);
      const store = this.#readsOn(client, questions);
      const results: unknown[] = [];
      for (const read of reads) results.push(await read(store));
      // Only a deletion may remove a namespace, which nobody else may be filling at that moment.
      if (changes.some(({ json }) => json === null)) {
        await client.query(this.#sql.lockNamespaces, [[...new Set(changes.map(({ path }) => path))]]);
      }
      for (const change of changes) await this.#change(client, change);
      return results;
    };
    if (isWrite) return this.#database.transaction("READ COMMITTED", runOn);
    // A single read needs no transaction, which would be two more ways to the server.
    if (reads.length === 1) return runOn(this.#database);
    return this.#database.transaction("REPEATABLE READ READ ONLY", runOn);
  }

  #readsOn(client: Queryable, questions: Questions): StoreReads {
    return {
      get: async ({ path, key }) => {
        const { rows } = await client.query<ItemRow>(this.#sql.get, [path, key]);
        return rows[0] === undefined ? null : toItem(rows[0]);
      },
      search: (search) =>
        search.query === undefined
          ? this.#list(client, search)
          : this.#find(client, search, search.query, questions.get(search.query)),
      listNamespaces: async (query) => selectNamespaces(await this.#paths(client, commonPath(query)), query),
    };
  }

  /** The namespaces at and below a path, in byte order. */
  async #paths(client: Queryable, path: string): Promise<string[]> {
    const { rows } = await client.query<{ path: string }>(this.#sql.paths, rangeOf(path));
    return rows.map((row) => row.path);
  }

  /** Namespaces in the order in which they were first used, in each the items in the order in which they were first put. */
  async #list(client: Queryable, search: SearchQuery): Promise<SearchItem[]> {
    const { path, filter, limit, offset } = search;
    const range = filter === undefined ? [limit, offset] : [null, 0];
    const { rows } = await client.query<ItemRow>(this.#sql.list, [...rangeOf(path), ...range]);
    return filter === undefined ? rows.map(toItem) : page(rows, search, toItem);
  }

  async #find(
    client: Queryable,
    search: SearchQuery,
    query: string,
    vector: Float32Array | undefined,
  ): Promise<SearchItem[]> {
    const { path, filter, limit, offset } = search;
    const question = toSearchableText(query.slice(0, MAX_QUERY_CHARACTERS));
    const terms = termsIn(question).slice(0, MAX_QUERY_TERMS);
    if (terms.length === 0) return [];
    const found = await client.query<ItemRow>(this.#sql.match, [...rangeOf(path), terms]);
    const byWords = rankTexts(found.rows, question, textsOf);
    const ranked = fuse(
      new Map(byWords.map(({ item, score }) => [item.id, score])),
      await this.#similarities(client, vector, path),
    );
    // A filter has to read what it judges.
    const wanted = filter === undefined ? ranked.slice(0, offset + limit) : ranked;
    const { rows } = await client.query<ItemRow>(this.#sql.byIds, [wanted.map(({ id }) => id)]);
    const byId = new Map(rows.map((row) => [row.id, row]));
    return page(wanted, search, ({ id, score }) => {
      const row = byId.get(id);
      return row && { ...toItem(row), score };
    });
  }

  /** Similarity (cosine) to a question of every item at and below a path that has a vector, by id; vectors have length 1. */
  async #similarities(
    client: Queryable,
    question: Float32Array | undefined,
    path: string,
  ): Promise<Map<number, number>> {
    if (question === undefined || this.embedder === undefined) return new Map();
    const values = [...rangeOf(path), this.embedder.model, question.byteLength];
    const { rows } = await client.query<{ id: number; vector: Buffer }>(this.#sql.vectors, values);
    return new Map(
      rows.map(({ id, vector }) => {
        const other = new Float32Array(new Uint8Array(vector).buffer);
        return [id, question.reduce((sum, component, at) => sum + component * (other[at] ?? 0), 0)];
      }),
    );
  }

  /** An item that exists keeps its place, its number and `createdAt`. */
  async #change(client: Queryable, change: ItemChange): Promise<void> {
    const { path, key, json } = change;
    if (json === null) {
      const { rowCount } = await client.query(this.#sql.delete, [path, key]);
      if (rowCount === 1) await client.query(this.#sql.dropEmptyNamespace, [path]);
      return;
    }
    const fields = this.fieldsOf(change);
    const terms = termsIn(indexedTexts(json, fields, change.namespace[0]).join("\n"));
    const indexed = terms.length === 0 ? [null, null] : [JSON.stringify(fields), terms];
    const values = [path, key, Math.trunc(this.clock.now()), ...indexed, json];
    while ((await client.query(this.#sql.put, values)).rowCount === 0);
  }

  protected async hasVectors(model: string): Promise<boolean> {
    return (await this.#database.query(this.#sql.anyVector, [model])).rowCount === 1;
  }

  protected async dueVectors({ model, bytes, isEmbedded, limit }: DueQuery): Promise<DueItem[]> {
    const paths = (await this.#paths(this.#database, "")).filter((path) => isEmbedded(decodePath(path)));
    return (await this.#database.query<DueItem>(this.#sql.due, [paths, model, bytes, limit])).rows;
  }

  protected async putVectors(made: readonly MadeVector[]): Promise<void> {
    for (const { id, value, fields, model, bytes } of made)
      await this.#database.query(this.#sql.putVector, [id, value, fields, model, bytes]);
  }
}

/** First path at or below a namespace, and the first one behind all of them; empty: none. */
function rangeOf(path: string): [from: string, to: string] {
  return [path, path === "" ? "" : endOfRange(path)];
}

/** The terms of a searchable text, each once. Those of items stand in the index: a change here needs a migration that indexes anew. */
function termsIn(text: string): string[] {
  return [...new Set(termsOf(text).map((term) => term.slice(0, MAX_TERM_CHARACTERS).toWellFormed()))];
}

function textsOf({ value, indexFields, path }: ItemRow): readonly [text: string, light: string] {
  return indexedTexts(value, JSON.parse(indexFields ?? "[]") as string[], decodePath(path)[0]);
}
