/** The reading half of the store: items by key, in order, by their words, and namespaces. */
import type { Item, SearchItem } from "@langchain/langgraph-checkpoint";
import type { FieldEquality, Filter } from "../filter.ts";
import type { ItemRef, SearchQuery } from "../operations.ts";
import { decodePath, encodePath } from "../namespace.ts";
import { commonPrefix, selectNamespaces, type NamespaceQuery } from "../namespace-list.ts";
import {
  MAX_EQUALITIES,
  rangeOf,
  type ItemRow,
  type NewestRow,
  type RankedRow,
  type StoreStatements,
} from "./store-statements.ts";
import { fuseWithVectors, WORD_CANDIDATES } from "./hybrid-search.ts";
import { toMatchQuery } from "./text-query.ts";
import type { VectorIndex } from "./vector-index.ts";

const NO_LIMIT = -1;

/** What a search by meaning needs beside the words. */
export interface QuestionVectors {
  readonly index: VectorIndex;
  /** Vectors of the questions, by their text; without one a question is asked by its words alone. */
  readonly byText: ReadonlyMap<string, Float32Array>;
}

/** Reads one item; null when there is none. */
export function readItem(statements: StoreStatements, ref: ItemRef): Item | null {
  const row = statements.get.get(ref.path, ref.key);
  return row === undefined ? null : toItem(row);
}

/**
 * Items at and below a namespace. Without a query: namespaces in the order in which they were first used, in each the
 * items in the order in which they were first put, as `InMemoryStore` gives them. With one: by score, best first.
 */
export function searchItems(
  statements: StoreStatements,
  query: SearchQuery,
  vectors?: QuestionVectors,
): SearchItem[] {
  if (query.limit === 0) return [];
  if (query.newestFirst) return newestFacts(statements, query);
  if (query.query === undefined) return listItems(statements, query);
  const vector = vectors?.byText.get(query.query);
  if (vectors === undefined || vector === undefined) return rankItems(statements, query, query.query);
  return fusedItems(statements, query, { text: query.query, vector, index: vectors.index });
}

/** Namespaces that hold at least one item, by label in code point order. */
export function readNamespaces(statements: StoreStatements, query: NamespaceQuery): string[][] {
  // An iterator that is made and never read would keep its statement busy.
  if (query.limit === 0) return [];
  const range = rangeOf(encodePath(commonPrefix(query)));
  return selectNamespaces(statements.paths.iterate(range.from, range.to), query);
}

function listItems(statements: StoreStatements, query: SearchQuery): SearchItem[] {
  const { from, to } = rangeOf(encodePath(query.prefix));
  const { filter, limit, offset } = query;
  const narrowing = narrowingOf(filter);
  const statement = statements.list(narrowing.length / 2);
  if (filter === undefined) return statement.all(from, to, limit, offset).map(toItem);
  // What SQLite narrows by is mostly the whole filter: then these are the first matches, and no row is read in vain.
  const first = statement.all(from, to, ...narrowing, wantedRows(query), 0).map(toItem);
  if (first.every((item) => filter.matches(item.value))) return first.slice(offset);
  return page(statement.iterate(from, to, ...narrowing, NO_LIMIT, 0), query, toItem);
}

/** The newest facts at and below a namespace; what is equally new keeps the order of its namespaces. */
function newestFacts(statements: StoreStatements, query: SearchQuery): SearchItem[] {
  const { filter, limit, offset } = query;
  const { from, to } = rangeOf(encodePath(query.prefix));
  const paths = statements.paths.all(from, to);
  const [only] = paths;
  if (only !== undefined && paths.length === 1 && filter?.isEqualities !== false) {
    const items = newestRows(statements, query, only, { limit, offset }).map(toNewItem);
    if (items.every((item) => filter === undefined || filter.matches(item.value))) return items;
  }
  const all = paths.flatMap((path) => newestRows(statements, query, path, { limit: NO_LIMIT, offset: 0 }));
  return page(
    all.sort((a, b) => compareNewness(b, a)),
    query,
    toNewItem,
  );
}

/** Rows of one namespace, newest first, narrowed by what SQLite can check of the filter. */
function newestRows(
  statements: StoreStatements,
  { filter }: SearchQuery,
  path: string,
  { limit, offset }: Pick<SearchQuery, "limit" | "offset">,
): NewestRow[] {
  const narrowing = narrowingOf(filter);
  return statements.newest(narrowing.length / 2).all(path, ...narrowing, limit, offset);
}

function toNewItem(row: NewestRow): SearchItem {
  return { ...toItem(row), score: Date.parse(row.newness ?? "") || 0 };
}

function compareNewness({ newness: a }: NewestRow, { newness: b }: NewestRow): number {
  if (a === b) return 0;
  return (a ?? "") < (b ?? "") ? -1 : 1;
}

/** Rows up to the end of the page, as a number that SQLite takes. */
function wantedRows({ limit, offset }: SearchQuery): number {
  return Math.min(limit + offset, Number.MAX_SAFE_INTEGER);
}

function rankItems(statements: StoreStatements, query: SearchQuery, text: string): SearchItem[] {
  const { filter, limit, offset } = query;
  const read = (row: RankedRow) => scoredItem(statements, row);
  const rank = (rows: number, from: number) =>
    rankByWords(statements, query, { text, limit: rows, offset: from });
  if (filter === undefined) return rank(limit, offset).map(read).filter(isThere);
  // What SQLite narrows by is mostly the whole filter: then the first matches are enough.
  const first = rank(wantedRows(query), 0).map(read).filter(isThere);
  if (first.every((item) => filter.matches(item.value))) return first.slice(offset);
  return page(rank(NO_LIMIT, 0), query, read);
}

function isThere<T>(item: T | undefined): item is T {
  return item !== undefined;
}

/** A question with its vector. */
interface VectorQuestion {
  readonly text: string;
  readonly vector: Float32Array;
  readonly index: VectorIndex;
}

function fusedItems(statements: StoreStatements, query: SearchQuery, question: VectorQuestion): SearchItem[] {
  // As without vectors: what holds no word asks for nothing, and every vector is a little like any other.
  if (toMatchQuery(question.text) === undefined) return [];
  const isFiltered = query.filter !== undefined;
  // Never fewer, or the page that is asked for would decide what is on it.
  const limit = isFiltered ? NO_LIMIT : Math.max(WORD_CANDIDATES, wantedRows(query));
  const lexical = rankByWords(statements, query, { text: question.text, limit, offset: 0 });
  const range = rangeOf(encodePath(query.prefix));
  const fused = fuseWithVectors(question.index, lexical, { vector: question.vector, range, isFiltered });
  return page(fused, query, (row) => scoredItem(statements, row));
}

interface WordRanking {
  readonly text: string;
  readonly limit: number;
  readonly offset: number;
}

function rankByWords(
  statements: StoreStatements,
  { prefix, filter }: SearchQuery,
  { text, limit, offset }: WordRanking,
): RankedRow[] {
  const match = toMatchQuery(text);
  if (match === undefined) return [];
  const { from, to } = rangeOf(encodePath(prefix));
  const narrowing = narrowingOf(filter);
  return statements.rank(narrowing.length / 2).all(match, from, to, ...narrowing, limit, offset);
}

function scoredItem(statements: StoreStatements, { id, score }: RankedRow): SearchItem | undefined {
  const row = statements.getById.get(id);
  return row === undefined ? undefined : { ...toItem(row), score };
}

/** The items that pass the filter, read only as far as `limit` and `offset` demand. */
function page<Row>(
  rows: Iterable<Row>,
  { filter, limit, offset }: SearchQuery,
  read: (row: Row) => SearchItem | undefined,
): SearchItem[] {
  const items: SearchItem[] = [];
  let skipped = 0;
  for (const row of rows) {
    const item = read(row);
    if (item === undefined || filter?.matches(item.value) === false) continue;
    if (skipped < offset) skipped += 1;
    else items.push(item);
    if (items.length >= limit) break;
  }
  return items;
}

/** Path and JSON text of each equality that SQLite can check; the whole filter is checked afterwards. */
function narrowingOf(filter: Filter | undefined): string[] {
  const simple = (filter?.equalities ?? []).filter(isSimple).slice(0, MAX_EQUALITIES);
  return simple.flatMap(({ field, json }) => [`$."${field}"`, json]);
}

// In a quoted path nothing but a quote or backslash has a meaning, and JSON writes no other printable key differently.
function isSimple({ field }: FieldEquality): boolean {
  return /^[^"\\\p{Cc}\p{Cs}]+$/u.test(field);
}

function toItem(row: ItemRow): Item {
  return {
    namespace: decodePath(row.path),
    key: row.key,
    value: JSON.parse(row.value) as Record<string, unknown>,
    createdAt: new Date(row.createdAt),
    updatedAt: new Date(row.updatedAt),
  };
}
