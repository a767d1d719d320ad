/** What every read of the store works with, and the item of a row. */
import type { Item } from "@langchain/langgraph-checkpoint";
import type { QueryResult, QueryResultRow } from "pg";
import { decodePath } from "../namespace.ts";
import type { ItemRow, StoreStatements } from "./store-statements.ts";

/** A pool or one of its connections. */
export interface Queryable {
  query<Row extends QueryResultRow>(sql: string, values?: unknown[]): Promise<QueryResult<Row>>;
}

/** Where and by which statements to read. */
export interface ReadContext {
  readonly client: Queryable;
  readonly statements: StoreStatements;
}

/** The item of a row. */
export function toItem(row: ItemRow): Item {
  return {
    namespace: decodePath(row.path),
    key: row.key,
    value: JSON.parse(row.value) as Record<string, unknown>,
    createdAt: new Date(row.createdAt),
    updatedAt: new Date(row.updatedAt),
  };
}
