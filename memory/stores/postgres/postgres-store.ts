/** A durable LangGraph `BaseStore` in PostgreSQL, with search by words. Why not LangGraph's own: decision 0009. */
import type {
  BaseStore,
  Item,
  Operation,
  OperationResults,
  SearchItem,
} from "@langchain/langgraph-checkpoint";
import type { Pool } from "pg";
import type { Clock } from "#src/kernel/clock.ts";
import { rankTexts, termsOf } from "#src/kernel/words.ts";
import { AtomicStore, StoreView } from "../atomic-store.ts";
import {
  createQueryVectors,
  vectorsOfQuestions,
  type QueryVectors,
  type Questions,
} from "#memory/embedding/vectors.ts";
import { fuse } from "../fuse.ts";
import { textsOf, weighedTexts, type IndexFields, type StoreIndex } from "../index-fields.ts";
import { encodePath, type Namespace } from "../namespace.ts";
import { commonPrefix, selectNamespaces, type NamespaceQuery } from "../namespace-list.ts";
import {
  planBatch,
  type BatchPlan,
  type ItemChange,
  type ItemRef,
  type SearchQuery,
  type StoreEngine,
} from "../operations.ts";
import { toSearchableText } from "../sqlite/searchable-text.ts";
import { toItem } from "../stored-item.ts";
import { retryConflicts, withServer } from "./postgres-errors.ts";
import { storeStatements, type ItemRow, type Queryable } from "./store-tables.ts";
import { Vectors } from "./vectors.ts";

export interface PostgresStoreOptions {
  /** Gives `createdAt` and `updatedAt`. */
  readonly clock: Clock;
  /** Where `setUpStore` made the tables; `public` by default. */
  readonly schema?: string;
  /** The server's name in error messages, without a password. */
  readonly server: string;
  readonly index?: StoreIndex;
}

/** Called inside the transaction of a batch that writes, before anything is written; throws to refuse it. */
export type WriteGuard = (client: Queryable) => Promise<void>;

/** Most words of a question that are looked up; the rest of a long text adds noise and time. */
const MAX_QUERY_TERMS = 64;

/** Most characters of a question that are read. */
const MAX_QUERY_CHARACTERS = 20_000;

// An entry of the index has to fit on a third of a page; no word is longer, only bytes that were taken for text.
const MAX_TERM_CHARACTERS = 100;

/**
 * The store. A batch is one transaction: it happens as a whole or not at all, and its reads see the state before its
 * writes; the reads of a batch that writes nothing see one state. What goes in and out are copies. Errors of PostgreSQL
 * arrive as `LilyError`s that name the server; a deadlock is tried again.
 *
 * Search gives the order of `InMemoryStore`, or the best match first when there is a `query`; `query` finds items that
 * share a word with an indexed field, and nothing when it has no word that carries a topic. Scores compare within one
 * answer only. Every item that shares a word is read to rank it, and every item at or below a prefix to filter it.
 *
 * With `index.embed`, and once {@link fillVectors} has made vectors, `query` finds also what means the same in other words,
 * as `SqliteStore` does; every vector at or below the prefix is read for it.
 */
export class PostgresStore extends AtomicStore {
  readonly #pool: Pool;
  readonly #clock: Clock;
  readonly #server: string;
  readonly #index: (namespace: Namespace) => IndexFields;
  readonly #sql: ReturnType<typeof storeStatements>;
  readonly #vectors: Vectors | undefined;
  readonly #queryVectors: QueryVectors | undefined;

  /** The tables have to exist. Whoever made the pool ends it. */
  constructor(pool: Pool, { clock, server, schema = "public", index = {} }: PostgresStoreOptions) {
    super();
    this.#pool = pool;
    this.#clock = clock;
    this.#server = server;
    const { fields = ["$"], embed, isEmbedded = () => true } = index;
    this.#index = typeof fields === "function" ? fields : () => fields;
    this.#sql = storeStatements(schema);
    if (embed === undefined) return;
    this.#vectors = new Vectors({ embedder: embed, isEmbedded, sql: this.#sql });
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
    const fill = () => this.#vectors?.fill(this.#pool, limit);
    return (await withServer(this.#server, async () => fill())) ?? { left: 0 };
  }

  async #execute<Op extends Operation[]>(operations: Op, guard?: WriteGuard): Promise<OperationResults<Op>> {
    const plan = planBatch(operations);
    const questions = plan.changes.length === 0 ? await this.#questionsIn(operations) : new Map();
    const runOn = (client: Queryable): Promise<unknown[]> => this.#run(client, plan, { questions, guard });
    const isWrite = plan.changes.length > 0;
    const mode = isWrite ? "READ COMMITTED" : "REPEATABLE READ READ ONLY";
    // A single read is one statement, which sees one state without a transaction.
    const isOneRead = !isWrite && plan.reads.length === 1;
    const attempt = () => (isOneRead ? runOn(this.#pool) : inTransaction(this.#pool, mode, runOn));
    const results = await withServer(this.#server, () => retryConflicts(attempt));
    return results as OperationResults<Op>;
  }

  async #questionsIn(operations: readonly Operation[]): Promise<Questions> {
    const vectors = this.#vectors;
    const vectorOf = this.#queryVectors;
    if (vectors === undefined || vectorOf === undefined) return new Map();
    const hasAny = () => withServer(this.#server, () => vectors.hasAny(this.#pool));
    return vectorsOfQuestions(operations, vectorOf, hasAny);
  }

  async #run(
    client: Queryable,
    { reads, changes }: BatchPlan,
    { questions, guard }: { readonly questions: Questions; readonly guard: WriteGuard | undefined },
  ): Promise<unknown[]> {
    const engine = this.#engineOn(client, questions);
    if (changes.length > 0) await guard?.(client);
    const results: unknown[] = [];
    for (const read of reads) results.push(await read(engine));
    // Only a deletion may remove a namespace, which nobody else may be filling at that moment.
    if (changes.some(({ json }) => json === null)) {
      await client.query(this.#sql.lockNamespaces, [[...new Set(changes.map(({ path }) => path))]]);
    }
    for (const change of changes) await engine.change(change);
    return results;
  }

  #engineOn(client: Queryable, questions: Questions): StoreEngine {
    return {
      get: async ({ path, key }) => (await this.#items(client, this.#sql.get, [path, key]))[0]?.item ?? null,
      search: (query) => this.#search(client, query, questions),
      listNamespaces: (query) => this.#listNamespaces(client, query),
      change: (change) =>
        change.json === null ? this.#delete(client, change) : this.#put(client, change, change.json),
    };
  }

  async #items(client: Queryable, sql: string, values: unknown[]): Promise<{ item: Item; row: ItemRow }[]> {
    const { rows } = await client.query<ItemRow>(sql, values);
    return rows.map((row) => ({ item: toItem(row), row }));
  }

  /**
   * Items at and below a namespace. Without a query: namespaces in the order in which they were first used, in each the
   * items in the order in which they were first put, as `InMemoryStore` gives them. With one: by score, best first.
   */
  async #search(client: Queryable, search: SearchQuery, questions: Questions): Promise<SearchItem[]> {
    const { prefix, filter, query, limit, offset } = search;
    const range = rangeOf(prefix);
    if (query === undefined && filter === undefined) {
      const page = await this.#items(client, this.#sql.list, [...range, limit, offset]);
      return page.map(({ item }) => item);
    }
    const terms = query === undefined ? [] : termsIn(query.slice(0, MAX_QUERY_CHARACTERS));
    if (query !== undefined && terms.length === 0) return [];
    const found =
      query === undefined
        ? await this.#items(client, this.#sql.list, [...range, null, 0])
        : await this.#items(client, this.#sql.match, [...range, terms.slice(0, MAX_QUERY_TERMS)]);
    const passes = ({ item }: { readonly item: Item }): boolean => filter?.(item.value) !== false;
    const passed = found.filter(passes);
    if (query === undefined) return passed.slice(offset, offset + limit).map(({ item }) => item);
    const question = toSearchableText(query.slice(0, MAX_QUERY_CHARACTERS));
    const byWords = rankTexts(passed, question, ({ item, row }) => indexedTexts(item, row)).map(
      ({ item: { item, row }, score }) => ({ id: row.id, item, score }),
    );
    const vector = questions.get(query);
    if (vector === undefined || this.#vectors === undefined)
      return byWords.slice(offset, offset + limit).map(({ item, score }) => ({ ...item, score }));
    const ranked = fuse(
      new Map(byWords.map(({ id, score }) => [id, score])),
      await this.#vectors.similarities(client, vector, range),
    );
    // A filter has to read what it judges.
    const wanted = filter === undefined ? ranked.slice(offset, offset + limit) : ranked;
    const read = await this.#items(client, this.#sql.byIds, [wanted.map(({ id }) => id)]);
    const byId = new Map(read.filter(passes).map(({ item, row }) => [row.id, item]));
    const items = wanted.flatMap(({ id, score }) => {
      const item = byId.get(id);
      return item === undefined ? [] : [{ ...item, score }];
    });
    return filter === undefined ? items : items.slice(offset, offset + limit);
  }

  /** Namespaces that hold at least one item, by label in code point order. */
  async #listNamespaces(client: Queryable, query: NamespaceQuery): Promise<string[][]> {
    const { rows } = await client.query<{ path: string }>(this.#sql.paths, rangeOf(commonPrefix(query)));
    const paths = rows.map(({ path }) => path);
    return query.limit === 0 ? [] : selectNamespaces(paths, query);
  }

  /** An item that exists keeps its place, its number and `createdAt`. */
  async #put(client: Queryable, change: ItemChange, json: string): Promise<void> {
    const fields = change.index ?? this.#index(change.namespace);
    const text = fields === false ? "" : textsOf(JSON.parse(json), fields).join("\n");
    const terms = termsIn(text);
    const indexed = terms.length === 0 ? [null, null] : [JSON.stringify(fields), terms];
    const values = [change.path, change.key, Math.trunc(this.#clock.now()), ...indexed, json];
    while ((await client.query(this.#sql.put, values)).rowCount === 0);
  }

  async #delete(client: Queryable, { path, key }: ItemRef): Promise<void> {
    const { rowCount } = await client.query(this.#sql.delete, [path, key]);
    if (rowCount === 1) await client.query(this.#sql.dropEmptyNamespace, [path]);
  }
}

/** First path at or below a namespace, and the first one behind all of them (empty: none): `/` is the character after `.`. */
function rangeOf(prefix: Namespace): [from: string, to: string] {
  const path = encodePath(prefix);
  return [path, path === "" ? "" : `${path.slice(0, -1)}/`];
}

/** The terms of a text, each once. Those of items stand in the index: a change here needs a migration that indexes anew. */
function termsIn(text: string): string[] {
  const terms = termsOf(toSearchableText(text));
  return [...new Set(terms.map((term) => term.slice(0, MAX_TERM_CHARACTERS).toWellFormed()))];
}

function indexedTexts({ value, namespace }: Item, { indexFields }: ItemRow): [text: string, light: string] {
  const fields = JSON.parse(indexFields ?? "[]") as string[];
  const [text, light] = weighedTexts(value, fields, namespace[0]);
  return [toSearchableText(text), toSearchableText(light)];
}

/** Runs `work` in a transaction: committed when it returns, rolled back when it throws. */
async function inTransaction<T>(
  pool: Pool,
  mode: string,
  work: (client: Queryable) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let isBroken = false;
  try {
    await client.query(`BEGIN ISOLATION LEVEL ${mode}`);
    const result = await work(client);
    await client.query("COMMIT");
    return result;
  } catch (error) {
    // A connection that cannot roll back is ended, and the transaction with it; what counts is why.
    await client.query("ROLLBACK").catch(() => (isBroken = true));
    throw error;
  } finally {
    client.release(isBroken);
  }
}
