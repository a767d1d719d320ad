/** One PostgreSQL database, as the store, the locks and the saver ask it. */
import { escapeIdentifier, type Pool, type QueryResult, type QueryResultRow } from "pg";
import pRetry from "p-retry";
import { codeOf, toPostgresError } from "../storage-errors.ts";

/** A database or one of its connections. */
export interface Queryable {
  query<Row extends QueryResultRow>(sql: string, values?: unknown[]): Promise<QueryResult<Row>>;
}

/** Attempts at what PostgreSQL ends in favour of another transaction. */
const MOST_ATTEMPTS = 5;

/** Errors are those of {@link toPostgresError}; what the server ended in favour of another transaction is tried again. */
export class PostgresDatabase implements Queryable {
  /** Where the tables are, quoted for statements. */
  readonly schema: string;
  readonly #pool: Pool;
  readonly #server: string;

  /**
   * Whoever made the pool ends it.
   *
   * @param server for error messages: without a password
   */
  constructor(pool: Pool, server: string, schema = "public") {
    this.schema = escapeIdentifier(schema);
    this.#pool = pool;
    this.#server = server;
  }

  /**
   * Runs `work` on the server, and again when PostgreSQL ended it in favour of another transaction. It has to leave nothing
   * half done when it throws, as a transaction does; the server has made it wait by then, so it is tried again at once.
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await pRetry(work, {
        retries: MOST_ATTEMPTS - 1,
        minTimeout: 0,
        // Serialization failure and deadlock: the transaction was rolled back.
        shouldRetry: ({ error }) => ["40001", "40P01"].includes(codeOf(error) ?? ""),
      });
    } catch (error) {
      throw toPostgresError(error, this.#server);
    }
  }

  query<Row extends QueryResultRow>(sql: string, values?: unknown[]): Promise<QueryResult<Row>> {
    return this.run(() => this.#pool.query<Row>(sql, values));
  }

  /** Runs `work` in a transaction: committed when it returns; ended with its connection when it throws. */
  transaction<T>(mode: string, work: (client: Queryable) => Promise<T>): Promise<T> {
    const inTransaction = async (client: Queryable): Promise<T> => {
      await client.query(`BEGIN ISOLATION LEVEL ${mode}`);
      const result = await work(client);
      await client.query("COMMIT");
      return result;
    };
    return this.apart(inTransaction, { isKept: true });
  }

  /** Runs `work` on a connection of its own, which is ended, and what is set, locked or begun on it, unless it is kept. */
  apart<T>(work: (client: Queryable) => Promise<T>, { isKept = false } = {}): Promise<T> {
    return this.run(async () => {
      const client = await this.#pool.connect();
      let mayGoOn = false;
      try {
        const result = await work(client);
        mayGoOn = isKept;
        return result;
      } finally {
        client.release(!mayGoOn);
      }
    });
  }
}
