/**
 * What our stores are asked beyond LangGraph's `search`: the newest facts first, keys by their beginning, and how many
 * facts there are in which state. A fact is an item of which `text` alone is indexed.
 */
import type { SearchItem, SearchOperation } from "@langchain/langgraph-checkpoint";
import { z } from "zod";

/** A search with wishes that a store may not know, and then ignores, as LangGraph's own do. */
export interface OrderedSearch extends SearchOperation {
  /**
   * Only facts, by `updated_at` of the value, the newest first; equals by key. A store that has this order gives each item
   * a score (the higher the newer).
   */
  readonly newestFirst?: boolean;
  /** Only items whose key begins with these printable ASCII characters. */
  readonly keyPrefix?: string;
  /**
   * An instant as facts hold it. Instead of items the answer is one {@link factCountItem}; filter, query and page do not
   * count.
   */
  readonly countAt?: string;
}

const countSchema = z.strictObject({
  current: z.int(),
  expired: z.int(),
  archived: z.int(),
  superseded: z.int(),
  /** Items that are no fact, or no fact that lies under its own id. */
  others: z.int(),
});

/** How many facts are in which state, as `stateOf` tells it. */
export type FactCount = z.infer<typeof countSchema>;

/** No store of ours gives an empty key to anything else below `memory`. */
const COUNT_KEY = "";

/** The answer to `countAt`. */
export function factCountItem(prefix: readonly string[], count: FactCount): SearchItem {
  const never = new Date(0);
  return {
    namespace: [...prefix],
    key: COUNT_KEY,
    value: { counted: count },
    createdAt: never,
    updatedAt: never,
    score: 1,
  };
}

/** The count in an answer; `undefined` where a store has ignored the wish and given items. */
export function factCountIn(items: readonly SearchItem[]): FactCount | undefined {
  const [only, ...others] = items;
  if (only === undefined || only.key !== COUNT_KEY || others.length > 0) return undefined;
  return countSchema.safeParse(only.value["counted"]).data;
}

/** A count from the states of facts and their numbers, and how many items there are in all. */
export function factCountOf(rows: Iterable<FactStateRow>, items: number, at: string): FactCount {
  const count = { current: 0, expired: 0, archived: 0, superseded: 0, others: items };
  for (const { state, facts } of rows) {
    if (state === "unreadable") continue;
    count.others -= facts;
    count[stateAt(state, at)] += facts;
  }
  return count;
}

/** Facts that a store has found in one state: a name of it, or the instant at which they expire; null for neither. */
export interface FactStateRow {
  readonly state: string | null;
  readonly facts: number;
}

// Instants are written in one form, so their order is that of their texts.
function stateAt(state: string | null, at: string): Exclude<keyof FactCount, "others"> {
  if (state === "superseded" || state === "archived") return state;
  return state !== null && state <= at ? "expired" : "current";
}
