/** The reading half of the store: items by key, in order, by their words, and namespaces. */
import type { Item, SearchItem } from "@langchain/langgraph-checkpoint";
import { keyBehind, type ItemRef, type SearchQuery } from "../operations.ts";
import { toItem } from "../stored-item.ts";
import { encodePath } from "../namespace.ts";
import { commonPrefix, selectNamespaces, type NamespaceQuery } from "../namespace-list.ts";
import { countFacts, newestFacts } from "./fact-reader.ts";
import { narrowingOf, NO_LIMIT, page } from "./item-rows.ts";
import { rangeOf, type RankedRow, type StoreStatements } from "./store-statements.ts";
import { fuseWithVectors, WORD_CANDIDATES } from "./hybrid-search.ts";
import { toMatchQuery } from "./text-query.ts";
import { textTablesUnder, type TextTable } from "./text-tables.ts";
import type { VectorIndex } from "./vector-index.ts";

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
  if (query.countAt !== undefined) return [countFacts(statements, query, query.countAt)];
  if (query.limit === 0) return [];
  if (query.keyPrefix !== undefined) return itemsByKey(statements, query, query.keyPrefix);
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
  // Most of what a turn asks for is not there, which this tells in a tenth of the time that the list takes.
  if (statements.paths.get(from, to) === undefined) return [];
  const { filter, limit, offset } = query;
  const narrowing = narrowingOf(filter?.equalities);
  const statement = statements.list(narrowing.length / 2);
  if (filter === undefined) return statement.all(from, to, limit, offset).map(toItem);
  // What SQLite narrows by is mostly the whole filter: then these are the first matches, and no row is read in vain.
  const first = statement.all(from, to, ...narrowing, wantedRows(query), 0).map(toItem);
  if (first.every((item) => filter.matches(item.value))) return first.slice(offset);
  return page(statement.iterate(from, to, ...narrowing, NO_LIMIT, 0), query, toItem);
}

/** The items of which the key begins so, in the order of their keys in each namespace. */
function itemsByKey(statements: StoreStatements, query: SearchQuery, begin: string): SearchItem[] {
  const { from, to } = rangeOf(encodePath(query.prefix));
  const end = keyBehind(begin);
  const narrowing = narrowingOf(query.filter?.equalities);
  const statement = statements.byKey(narrowing.length / 2);
  return page(statement.iterate(from, to, begin, end, ...narrowing, NO_LIMIT, 0), query, toItem);
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
  const path = encodePath(prefix);
  const { from, to } = rangeOf(path);
  const narrowing = narrowingOf(filter?.equalities);
  const rank = (table: TextTable, rows: number, skipped: number): RankedRow[] =>
    statements.texts[table].rank(narrowing.length / 2).all(match, from, to, ...narrowing, rows, skipped);
  const [table, ...others] = textTablesUnder(path);
  if (table !== undefined && others.length === 0) return rank(table, limit, offset);
  // Each index knows only how rare a word is in itself: across them the order is a rough one.
  const end = limit === NO_LIMIT ? NO_LIMIT : Math.min(limit + offset, Number.MAX_SAFE_INTEGER);
  const rows = textTablesUnder(path).flatMap((one) => rank(one, end, 0));
  return rows
    .sort((a, b) => b.score - a.score || a.id - b.id)
    .slice(offset, limit === NO_LIMIT ? undefined : offset + limit);
}

function scoredItem(statements: StoreStatements, { id, score }: RankedRow): SearchItem | undefined {
  const row = statements.getById.get(id);
  return row === undefined ? undefined : { ...toItem(row), score };
}
