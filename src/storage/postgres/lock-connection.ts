/** The one connection on which a process holds its advisory locks: they end with it, however the process ends. */
import { setMaxListeners } from "node:events";
import { Client, DatabaseError, type ClientConfig, type QueryResult, type QueryResultRow } from "pg";
import { withServer } from "#memory/stores/postgres/postgres-errors.ts";

/** A connection of its own, beside the pool: a holder needs the pool for its writes. */
export interface LockConnection {
  /** Aborted when the connection is gone, and with it every lock that was taken on it. */
  readonly lost: AbortSignal;
  /** Runs one statement after the other. */
  query<Row extends QueryResultRow>(sql: string, values: unknown[]): Promise<Row[]>;
  /** Ends it without calling it lost. Idempotent. */
  end(): Promise<void>;
}

/** Options of {@link openLockConnection}. */
export interface LockConnectionOptions {
  /** The server's name in error messages. */
  readonly server: string;
  /** Longest wait for an answer in milliseconds; a server that is silent for longer is taken for lost. */
  readonly answerMs: number;
}

const CONNECT_TIMEOUT_MS = 10_000;

// A grant waits for a write under the lease before it; one that takes this long is asked for again.
const LOCK_TIMEOUT_MS = 2_000;

// By these the server notices within 25 s that a host is gone; its own default is two hours.
const KEEPALIVE =
  "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3";

/** Connects. @throws {LilyError} a storage error that names the server */
export async function openLockConnection(
  config: ClientConfig,
  { server, answerMs }: LockConnectionOptions,
): Promise<LockConnection> {
  const client = new Client({
    ...config,
    application_name: "lily locks",
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
    query_timeout: answerMs,
  });
  const lost = new AbortController();
  // Every lease of the process listens.
  setMaxListeners(0, lost.signal);
  let ended = false;
  const lose = (): void => {
    if (!ended) lost.abort();
  };
  client.on("error", lose);
  client.on("end", lose);
  const end = async (): Promise<void> => {
    ended = true;
    // It may be gone already, which is what was asked for.
    await client.end().catch(() => undefined);
  };
  await withServer(server, () => client.connect().then(() => client.query(KEEPALIVE)));

  let last: Promise<unknown> = Promise.resolve();
  const ask = async <Row extends QueryResultRow>(sql: string, values: unknown[]): Promise<Row[]> => {
    try {
      const result: QueryResult<Row> = await client.query<Row>(sql, values);
      return result.rows;
    } catch (error) {
      // What is no answer of the server says that there may be none: nobody knows what is still held.
      if (!(error instanceof DatabaseError)) {
        lose();
        void end();
      }
      throw error;
    }
  };
  return {
    lost: lost.signal,
    query: (sql, values) => {
      const next = last.then(() => ask<never>(sql, values));
      last = next.catch(() => undefined);
      return next;
    },
    end,
  };
}
