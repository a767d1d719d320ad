/** Reading facts without reading all of them: the newest first, and how many there are in which state. */
import type { SearchItem } from "@langchain/langgraph-checkpoint";
import { factCountItem, factCountOf } from "../fact-search.ts";
import { encodePath } from "../namespace.ts";
import type { SearchQuery } from "../operations.ts";
import { toItem } from "../stored-item.ts";
import { narrowingOf, NO_LIMIT, page } from "./item-rows.ts";
import { rangeOf, type NewestRow, type StoreStatements } from "./store-statements.ts";

/** The newest facts at and below a namespace; what is equally new keeps the order of its namespaces. */
export function newestFacts(statements: StoreStatements, query: SearchQuery): SearchItem[] {
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
  const equalities = filter?.equalities ?? [];
  const group = equalities.find(({ field }) => field === "conflict_group");
  if (group === undefined) {
    const narrowing = narrowingOf(equalities);
    return statements.newest(narrowing.length / 2).all(path, ...narrowing, limit, offset);
  }
  const narrowing = narrowingOf(equalities.filter((one) => one !== group));
  return statements.newestOfGroup(narrowing.length / 2).all(path, group.json, ...narrowing, limit, offset);
}

/** How many facts at and below a namespace are in which state at an instant. */
export function countFacts(statements: StoreStatements, { prefix }: SearchQuery, at: string): SearchItem {
  const { from, to } = rangeOf(encodePath(prefix));
  const paths = statements.paths.all(from, to);
  const items = paths.reduce((sum, path) => sum + (statements.countItems.get(path) ?? 0), 0);
  const states = paths.flatMap((path) => statements.states.all(path));
  return factCountItem(prefix, factCountOf(states, items, at));
}

function toNewItem(row: NewestRow): SearchItem {
  return { ...toItem(row), score: Date.parse(row.newness ?? "") || 0 };
}

function compareNewness({ newness: a }: NewestRow, { newness: b }: NewestRow): number {
  if (a === b) return 0;
  return (a ?? "") < (b ?? "") ? -1 : 1;
}
