/** What every read of the store does with rows: narrow them in SQL, and filter them in full. */
import type { SearchItem } from "@langchain/langgraph-checkpoint";
import type { FieldEquality } from "../filter.ts";
import type { SearchQuery } from "../operations.ts";
import { MAX_EQUALITIES } from "./store-statements.ts";

/** To SQLite: all rows. */
export const NO_LIMIT = -1;

/** The items that pass the filter, read only as far as `limit` and `offset` demand. */
export function page<Row>(
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
export function narrowingOf(equalities: readonly FieldEquality[] = []): string[] {
  const simple = equalities.filter(isSimple).slice(0, MAX_EQUALITIES);
  return simple.flatMap(({ field, json }) => [`$."${field}"`, json]);
}

// In a quoted path nothing but a quote or backslash has a meaning, and JSON writes no other printable key differently.
function isSimple({ field }: FieldEquality): boolean {
  return /^[^"\\\p{Cc}\p{Cs}]+$/u.test(field);
}
