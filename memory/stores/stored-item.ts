/** An item as a database of ours gives it. */
import type { Item } from "@langchain/langgraph-checkpoint";
import { decodePath } from "./namespace.ts";

/** The columns of an item. */
export interface StoredItemRow {
  readonly path: string;
  readonly key: string;
  /** JSON. */
  readonly value: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The item of a row. */
export function toItem(row: StoredItemRow): Item {
  return {
    namespace: decodePath(row.path),
    key: row.key,
    value: JSON.parse(row.value) as Record<string, unknown>,
    createdAt: new Date(row.createdAt),
    updatedAt: new Date(row.updatedAt),
  };
}
