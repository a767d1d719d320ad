/** What every read of the store works with. */
import type { QueryResult, QueryResultRow } from "pg";
import type { StoreStatements } from "./store-statements.ts";

/** A pool or one of its connections. */
export interface Queryable {
  query<Row extends QueryResultRow>(sql: string, values?: unknown[]): Promise<QueryResult<Row>>;
}

/** Where and by which statements to read. */
export interface ReadContext {
  readonly client: Queryable;
  readonly statements: StoreStatements;
}
