/** The backend for several hosts: one PostgreSQL database for checkpoints, store and locks. */
import { Client, escapeIdentifier, Pool, type PoolConfig } from "pg";
import type { StoreIndex } from "#memory/stores/index-fields.ts";
import { PostgresStore } from "#memory/stores/postgres/postgres-store.ts";
import { setUpStore, storeTables } from "#memory/stores/postgres/store-tables.ts";
import { onServer } from "#memory/stores/storage-errors.ts";
import type { Clock } from "#src/kernel/clock.ts";
import { isLilyError, LilyError } from "#src/kernel/errors.ts";
import type { Ids } from "#src/kernel/ids.ts";
import type { ScrubReport, StorageBackend } from "../backend.ts";
import { PostgresKeyLock, setUpLeases } from "./postgres-key-lock.ts";
import { createPostgresSaver } from "./postgres-session-saver.ts";

export interface PostgresBackendOptions {
  /**
   * `postgresql://user:password@host:5432/database`, or a pool, which is then not ended, and whose connections have a
   * listener for errors. Beside the pool each process has one connection that says that it lives, which needs a session
   * of its own (no pooler in transaction mode).
   */
  readonly connection: string | Pool;
  /** Where the tables are; `public` by default. It is made where it is missing. */
  readonly schema?: string;
  readonly clock: Clock;
  readonly ids: Pick<Ids, "uuid">;
  /** How long a lease lasts without renewal, in milliseconds; 30 s by default. */
  readonly leaseMs?: number;
  /** LangGraph's `index` settings of the store. */
  readonly index?: StoreIndex;
}

const CONNECT_TIMEOUT_MS = 10_000;

const MOST_CONNECTIONS = 10;

// A process that stands still in the middle of a write would block the next holder of its lock.
const IDLE_TRANSACTION_TIMEOUT_MS = 15_000;

// "Lily": nobody else who locks by numbers should have chosen it.
const SETUP_LOCK = 0x4c69_6c79;

/** Longest wait of a scrub for whoever uses a table. */
const SCRUB_TIMEOUT_MS = 3_000;

const LOG_KEEPS =
  "PostgreSQL's write-ahead log, its archives, replicas and freed pages of its catalog hold what was deleted until they are recycled; that is the server's to set";

/**
 * Connects, and makes the tables where they are missing. Any number of processes may do so at once.
 *
 * @throws {LilyError} `config_invalid` for an address that cannot be read; a storage error that names the server without
 *   its password; then no connection is left open
 */
export async function openPostgresBackend(options: PostgresBackendOptions): Promise<StorageBackend> {
  const { connection, schema = "public", clock, ids, leaseMs, index } = options;
  const config = typeof connection === "string" ? configOf(connection) : connection.options;
  // The pool hides the password from listings; a copy by spreading would lose it.
  const own: PoolConfig = {
    ...config,
    password: config.password,
    ssl: config.ssl,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  };
  const server = addressOf(own);
  const pool = typeof connection === "string" ? openPool(own) : connection;
  const endPool = async (): Promise<void> => {
    if (pool !== connection && !pool.ended) await pool.end();
  };
  const saver = createPostgresSaver(pool, { schema, server, ids });
  const locks = new PostgresKeyLock(pool, { connection: own, schema, server, clock, leaseMs });
  const store = new PostgresStore(pool, { clock, schema, server, index });
  try {
    await onServer(server, () => setUp(own, schema, saver.setUp));
  } catch (error) {
    await endPool();
    throw error;
  }
  return {
    name: "postgres",
    location: server,
    checkpointer: saver.checkpointer,
    store,
    locks,
    ...(index?.embed === undefined ? {} : { fillVectors: (limit: number) => store.fillVectors(limit) }),
    fencedStore: (ref) => store.withGuard((client) => locks.assertHeld(client, ref)),
    erasure: {
      logKeeps: LOG_KEEPS,
      scrub: () => scrubTables(pool, { schema, server }),
      forgetLocks: (prefix) => locks.forget(prefix),
    },
    async close() {
      await locks.close();
      await endPool();
    },
  };
}

function openPool(config: PoolConfig): Pool {
  const pool = new Pool({
    ...config,
    max: MOST_CONNECTIONS,
    application_name: "lily",
    keepAlive: true,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_TIMEOUT_MS,
  });
  // A connection that is lost is replaced when the next one is needed. Without these listeners the process would end:
  // LangGraph's saver has none on the connections that it takes out of the pool.
  const onLost = (): void => undefined;
  return pool.on("error", onLost).on("connect", (client) => client.on("error", onLost));
}

/** Makes the tables, one program at a time: LangGraph's own `setup` fails when two race. */
async function setUp(config: PoolConfig, schema: string, setUpSaver: () => Promise<void>): Promise<void> {
  const client = new Client(config);
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query("SELECT pg_advisory_lock($1)", [SETUP_LOCK]);
    await setUpStore(client, schema);
    await setUpLeases(client, schema);
    await setUpSaver();
  } finally {
    // The lock ends with the connection.
    await client.end().catch(() => undefined);
  }
}

/**
 * Writes every table anew: a plain VACUUM leaves the bytes of deleted rows in their pages until these are used again. What
 * the planner has sampled of a table, whole values among it, stays until the table is analysed anew.
 */
async function scrubTables(
  pool: Pool,
  { schema, server }: { readonly schema: string; readonly server: string },
): Promise<ScrubReport> {
  const { items, namespaces, vectors } = storeTables(schema);
  const checkpoints = ["checkpoints", "checkpoint_blobs", "checkpoint_writes"];
  const tables = [
    items,
    namespaces,
    vectors,
    ...checkpoints.map((name) => `${escapeIdentifier(schema)}.${name}`),
  ];
  const scrub = async (): Promise<void> => {
    const client = await pool.connect();
    try {
      await client.query(`SET lock_timeout = ${SCRUB_TIMEOUT_MS}`);
      for (const table of tables) await client.query(`VACUUM (FULL, ANALYZE) ${table}`);
    } finally {
      // Ended, so that nobody is given a connection with this timeout.
      client.release(true);
    }
  };
  try {
    await onServer(server, scrub);
    return { outcome: "done", files: tables.length };
  } catch (error) {
    if (!isLilyError(error)) throw error;
    return {
      outcome: "unfinished",
      why: `what was deleted may still stand in the tables: ${error.message}`,
    };
  }
}

function configOf(connectionString: string): PoolConfig {
  // The client takes any text for the name of a database on some host.
  if (!/^postgres(?:ql)?:\/\//u.test(connectionString)) throw unreadable();
  return { connectionString };
}

/** `host:port/database`, with the defaults of the client for what is left out. @throws {LilyError} `config_invalid` */
function addressOf(config: PoolConfig): string {
  try {
    const { host, port, database = "" } = new Client(config);
    return `${host}:${port}/${database}`;
  } catch {
    // The error holds the address, and with it the password.
    throw unreadable();
  }
}

function unreadable(): LilyError {
  return new LilyError("config_invalid", "the address of the PostgreSQL database cannot be read", {
    next: "Write it as postgresql://user:password@host:5432/database.",
  });
}
