/** The reading half of the store: items by key, in order, by their words, and namespaces. */
import type { Item, SearchItem } from "@langchain/langgraph-checkpoint";
import { textsOf } from "../index-fields.ts";
import { encodePath } from "../namespace.ts";
import { commonPrefix, selectNamespaces, type NamespaceQuery } from "../namespace-list.ts";
import { keyBehind, type ItemRef, type SearchQuery } from "../operations.ts";
import { toItem } from "../stored-item.ts";
import type { BatchRead } from "./batch-reads.ts";
import { countFacts, newestFacts } from "./fact-reader.ts";
import type { ReadContext } from "./read-context.ts";
import { queryTerms, rankByTerms } from "./search-terms.ts";
import { rangeOf, type ItemRow } from "./store-statements.ts";

/** Items that are fetched at once when each has to pass a filter. */
const FILTER_PAGE = 500;

/** Runs one read of a batch. */
export async function runRead(context: ReadContext, read: BatchRead): Promise<unknown> {
  switch (read.kind) {
    case "none":
      return null;
    case "get":
      return readItem(context, read.ref);
    case "search":
      return searchItems(context, read.query);
    case "listNamespaces":
      return readNamespaces(context, read.query);
  }
}

/** Whether `read` is one statement at most, which sees one state of the database without a transaction. */
export function isSingleStatement(read: BatchRead): boolean {
  if (read.kind !== "search" || read.query.filter === undefined || read.query.query !== undefined)
    return true;
  return read.query.newestFirst || read.query.keyPrefix !== undefined;
}

async function readItem({ client, statements }: ReadContext, ref: ItemRef): Promise<Item | null> {
  const { rows } = await client.query<ItemRow>(statements.get, [ref.path, ref.key]);
  return rows[0] === undefined ? null : toItem(rows[0]);
}

/**
 * Items at and below a namespace. Without a query: namespaces in the order in which they were first used, in each the
 * items in the order in which they were first put, as `InMemoryStore` gives them. With one: by score, best first.
 */
async function searchItems(context: ReadContext, search: SearchQuery): Promise<SearchItem[]> {
  if (search.countAt !== undefined) return [await countFacts(context, search, search.countAt)];
  if (search.limit === 0) return [];
  if (search.newestFirst) return newestFacts(context, search);
  if (search.keyPrefix !== undefined) return itemsByKey(context, search, search.keyPrefix);
  if (search.query !== undefined) return rankItems(context, search, search.query);
  if (search.filter !== undefined) return filterItems(context, search);
  const { from, to } = rangeOf(encodePath(search.prefix));
  const { client, statements } = context;
  const { rows } = await client.query<ItemRow>(statements.list, [from, to, search.limit, search.offset]);
  return rows.map(toItem);
}

/** The items of which the key begins so, in the order of their keys in each namespace. */
async function itemsByKey(
  { client, statements }: ReadContext,
  search: SearchQuery,
  begin: string,
): Promise<Item[]> {
  const { from, to } = rangeOf(encodePath(search.prefix));
  const end = keyBehind(begin);
  const { filter, limit, offset } = search;
  const page = filter === undefined ? [limit, offset] : [null, 0];
  const { rows } = await client.query<ItemRow>(statements.byKey, [from, to, begin, end, ...page]);
  const items = rows.map(toItem);
  if (filter === undefined) return items;
  return items.filter((item) => filter.matches(item.value)).slice(offset, offset + limit);
}

/** The items that pass the filter, read only as far as limit and offset demand. */
async function filterItems({ client, statements }: ReadContext, search: SearchQuery): Promise<Item[]> {
  const { from, to } = rangeOf(encodePath(search.prefix));
  const passed: Item[] = [];
  let after: Pick<ItemRow, "namespaceId" | "id"> = { namespaceId: "0", id: "0" };
  for (;;) {
    const page = [from, to, after.namespaceId, after.id, FILTER_PAGE];
    const { rows } = await client.query<ItemRow>(statements.listAfter, page);
    for (const row of rows) {
      const item = toItem(row);
      if (search.filter?.matches(item.value) === false) continue;
      passed.push(item);
      if (passed.length >= search.offset + search.limit) return passed.slice(search.offset);
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < FILTER_PAGE) return passed.slice(search.offset);
    after = last;
  }
}

/** The database finds the items that share a word with `question`; the filter and the ranking need their values. */
async function rankItems(
  { client, statements }: ReadContext,
  search: SearchQuery,
  question: string,
): Promise<SearchItem[]> {
  const terms = queryTerms(question);
  if (terms.length === 0) return [];
  const { from, to } = rangeOf(encodePath(search.prefix));
  const { rows } = await client.query<ItemRow>(statements.match, [from, to, terms]);
  const found = rows
    .map((row) => ({ item: toItem(row), row }))
    .filter(({ item }) => search.filter?.matches(item.value) !== false);
  const ranked = rankByTerms(found, question, ({ item, row }) => indexedText(item.value, row.indexFields));
  return ranked
    .slice(search.offset, search.offset + search.limit)
    .map(({ item: { item }, score }) => ({ ...item, score }));
}

/** Namespaces that hold at least one item, by label in code point order. */
async function readNamespaces(
  { client, statements }: ReadContext,
  query: NamespaceQuery,
): Promise<string[][]> {
  if (query.limit === 0) return [];
  const { from, to } = rangeOf(encodePath(commonPrefix(query)));
  const { rows } = await client.query<{ path: string }>(statements.paths, [from, to]);
  return selectNamespaces(
    rows.map((row) => row.path),
    query,
  );
}

function indexedText(value: unknown, indexFields: string | null): string {
  return textsOf(value, JSON.parse(indexFields ?? "[]") as string[]).join("\n");
}
