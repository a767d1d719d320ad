/** The reading half of the store: items by key, in order, by their words, and namespaces. */
import type { Item, SearchItem } from "@langchain/langgraph-checkpoint";
import type { FieldEquality, Filter } from "../filter.ts";
import type { ItemRef, SearchQuery } from "../operations.ts";
import { decodePath, encodePath } from "../namespace.ts";
import { commonPrefix, selectNamespaces, type NamespaceQuery } from "../namespace-list.ts";
import { MAX_EQUALITIES, rangeOf, type ItemRow, type StoreStatements } from "./store-statements.ts";
import { toMatchQuery } from "./text-query.ts";

const NO_LIMIT = -1;

/** Reads one item; null when there is none. */
export function readItem(statements: StoreStatements, ref: ItemRef): Item | null {
  const row = statements.get.get(ref.path, ref.key);
  return row === undefined ? null : toItem(row);
}

/**
 * Items at and below a namespace. Without a query: namespaces in the order in which they were first used, in each the
 * items in the order in which they were first put, as `InMemoryStore` gives them. With one: by score, best first.
 */
export function searchItems(statements: StoreStatements, query: SearchQuery): SearchItem[] {
  if (query.limit === 0) return [];
  return query.query === undefined ? listItems(statements, query) : rankItems(statements, query, query.query);
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
  const narrowing = narrowingOf(query.filter);
  const statement = statements.list(narrowing.length / 2);
  if (query.filter === undefined) return statement.all(from, to, query.limit, query.offset).map(toItem);
  return page(statement.iterate(from, to, ...narrowing, NO_LIMIT, 0), query, query.filter, toItem);
}

function rankItems(statements: StoreStatements, query: SearchQuery, text: string): SearchItem[] {
  const match = toMatchQuery(text);
  if (match === undefined) return [];
  const { from, to } = rangeOf(encodePath(query.prefix));
  const narrowing = narrowingOf(query.filter);
  const [limit, offset] = query.filter === undefined ? [query.limit, query.offset] : [NO_LIMIT, 0];
  const ranked = statements.rank(narrowing.length / 2).all(match, from, to, ...narrowing, limit, offset);
  const read = ({ id, score }: { id: number; score: number }): SearchItem | undefined => {
    const row = statements.getById.get(id);
    return row === undefined ? undefined : { ...toItem(row), score };
  };
  if (query.filter !== undefined) return page(ranked, query, query.filter, read);
  return ranked.map(read).filter((item) => item !== undefined);
}

/** The items that pass `filter`, read only as far as `limit` and `offset` demand. */
function page<Row>(
  rows: Iterable<Row>,
  { limit, offset }: SearchQuery,
  filter: Filter,
  read: (row: Row) => SearchItem | undefined,
): SearchItem[] {
  const items: SearchItem[] = [];
  let skipped = 0;
  for (const row of rows) {
    const item = read(row);
    if (item === undefined || !filter.matches(item.value)) continue;
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
