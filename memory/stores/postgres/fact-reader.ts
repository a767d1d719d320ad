/** Reading facts without reading all of them: the newest first, and how many there are in which state. */
import type { SearchItem } from "@langchain/langgraph-checkpoint";
import { factCountItem, factCountOf, type FactStateRow } from "../fact-search.ts";
import { encodePath } from "../namespace.ts";
import type { SearchQuery } from "../operations.ts";
import { toItem } from "../stored-item.ts";
import type { ReadContext } from "./read-context.ts";
import { rangeOf, type ItemRow } from "./store-statements.ts";

interface NewestRow extends ItemRow {
  readonly newness: string;
}

/** The newest facts at and below a namespace; what is equally new keeps the order of its namespaces and keys. */
export async function newestFacts(
  { client, statements }: ReadContext,
  { prefix, filter, limit, offset }: SearchQuery,
): Promise<SearchItem[]> {
  const { from, to } = rangeOf(encodePath(prefix));
  const equalities = (filter?.equalities ?? []).filter(({ field }) => !field.includes("\u0000"));
  const group = equalities.find(({ field }) => field === "conflict_group");
  const fields = equalities.filter((one) => one !== group).flatMap(({ field, json }) => [field, json]);
  // Where SQL has checked the whole filter, the page is what it gives; else all is read and filtered here.
  const isWhole =
    filter === undefined || (filter.isEqualities && equalities.length === filter.equalities.length);
  const page = isWhole ? [limit + offset, limit, offset] : [null, null, 0];
  const values = [from, to, ...page, ...fields, ...(group === undefined ? [] : [group.json])];
  const statement = statements.newest(fields.length / 2, group !== undefined);
  const { rows } = await client.query<NewestRow>(statement, values);
  const items = rows.map((row) => ({ ...toItem(row), score: Date.parse(row.newness) || 0 }));
  return isWhole ? items : items.filter((item) => filter.matches(item.value)).slice(offset, offset + limit);
}

/** How many facts at and below a namespace are in which state at an instant. */
export async function countFacts(
  { client, statements }: ReadContext,
  { prefix }: SearchQuery,
  at: string,
): Promise<SearchItem> {
  const { from, to } = rangeOf(encodePath(prefix));
  const { rows } = await client.query<FactStateRow & { readonly isFact: boolean }>(statements.countFacts, [
    from,
    to,
  ]);
  const items = rows.reduce((sum, { facts }) => sum + facts, 0);
  const states = rows.filter(({ isFact }) => isFact);
  return factCountItem(prefix, factCountOf(states, items, at));
}
