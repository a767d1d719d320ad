/** The backend for several hosts: one PostgreSQL database for checkpoints, store and locks. */
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { Client, Pool, type PoolConfig } from "pg";
import type { StoreIndex } from "#memory/stores/index-fields.ts";
import { PostgresDatabase } from "#memory/stores/postgres/postgres-database.ts";
import { PostgresStore } from "#memory/stores/postgres/postgres-store.ts";
import { setUpStore } from "#memory/stores/postgres/store-tables.ts";
import type { Clock } from "#src/kernel/clock.ts";
import { isLilyError, LilyError } from "#src/kernel/errors.ts";
import type { Ids } from "#src/kernel/ids.ts";
import type { ScrubReport, StorageBackend } from "../backend.ts";
import { DurableSaver } from "../session-saver.ts";
import { PostgresKeyLock, setUpLeases } from "./postgres-key-lock.ts";

export interface PostgresBackendOptions {
  /**
   * `postgresql://user:password@host:5432/database`. Beside its pool each process has one connection that says that it
   * lives, which needs a session of its own (no pooler in transaction mode).
   */
  readonly connection: string;
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

/** All that hold what a person said, or whose it is. */
const SCRUBBED = [
  "lily_leases",
  "lily_items",
  "lily_namespaces",
  "lily_vectors",
  "checkpoints",
  "checkpoint_blobs",
  "checkpoint_writes",
];

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
  const server = addressOf(connection);
  const pool = openPool(connection, { application_name: "lily", max: MOST_CONNECTIONS });
  const alive = openPool(connection, {
    application_name: "lily locks",
    max: 1,
    idleTimeoutMillis: 0,
    // A network that drops what is quiet must not keep a renewal waiting for longer than the lease lasts.
    query_timeout: CONNECT_TIMEOUT_MS,
  });
  const database = new PostgresDatabase(pool, server, schema);
  const stock = new PostgresSaver(pool, undefined, { schema });
  const locks = new PostgresKeyLock(database, alive, { clock, leaseMs });
  const store = new PostgresStore(database, { clock, index });
  const close = async (): Promise<void> => {
    await locks.close();
    await Promise.all([pool, alive].filter(({ ending }) => !ending).map((one) => one.end()));
  };
  try {
    // One program at a time: LangGraph's own `setup` fails when two race.
    await database.apart(async (client) => {
      await client.query("SELECT pg_advisory_lock($1)", [SETUP_LOCK]);
      await setUpStore(database);
      await setUpLeases(database);
      await stock.setup();
    });
  } catch (error) {
    await close();
    throw error;
  }
  return {
    name: "postgres",
    location: server,
    checkpointer: createSaver(stock, database, ids),
    store,
    locks,
    ...(index?.embed === undefined ? {} : { fillVectors: (limit: number) => store.fillVectors(limit) }),
    fencedStore: (ref) => store.withGuard((client) => locks.assertHeld(client, ref)),
    erasure: {
      logKeeps: LOG_KEEPS,
      scrub: () => scrubTables(database),
      forgetLocks: (prefix) => locks.forget(prefix),
    },
    close,
  };
}

function openPool(connectionString: string, config: PoolConfig): Pool {
  const pool = new Pool({
    connectionString,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: CONNECT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_TIMEOUT_MS,
    ...config,
  });
  // A connection that is lost is replaced when the next one is needed. Without these listeners the process would end:
  // LangGraph's saver has none on the connections that it takes out of the pool.
  const onLost = (): void => undefined;
  return pool.on("error", onLost).on("connect", (client) => client.on("error", onLost));
}

/** LangGraph's saver with what it lacks: versions that never collide, small threads, errors that say what is wrong. */
function createSaver(stock: PostgresSaver, database: PostgresDatabase, ids: Pick<Ids, "uuid">): DurableSaver {
  const checkpoints = `${database.schema}.checkpoints`;
  const later = `DELETE FROM ${checkpoints} WHERE thread_id = $1 AND checkpoint_ns = $2 AND checkpoint_id > $3`;
  // Not for graphs with LangGraph's (beta) delta channels: they read values out of any ancestor.
  const older = `DELETE FROM ${checkpoints} WHERE thread_id = $1 AND checkpoint_id < (
    SELECT checkpoint_id FROM ${checkpoints} WHERE thread_id = $1 AND checkpoint_ns = ''
    ORDER BY checkpoint_id DESC LIMIT 1 OFFSET $2)`;
  const unused = (table: string, isKept: string): string => `
    DELETE FROM ${database.schema}.${table} AS old WHERE old.thread_id = $1 AND NOT EXISTS (
      SELECT FROM ${checkpoints} AS kept WHERE kept.thread_id = old.thread_id
        AND kept.checkpoint_ns = old.checkpoint_ns AND ${isKept})`;
  const left = [
    unused("checkpoint_writes", "kept.checkpoint_id = old.checkpoint_id"),
    unused("checkpoint_blobs", "kept.checkpoint -> 'channel_versions' ->> old.channel = old.version"),
  ];
  return new DurableSaver(stock, {
    run: (work) => database.run(async () => work()),
    deleteLater: (...values) => database.query(later, values),
    /** Each statement is one transaction; what a crash in between leaves is found by the next call. */
    async retain(threadId, count) {
      const { rowCount } = await database.query(older, [threadId, Math.max(1, count) - 1]);
      for (const sql of left) await database.query(sql, [threadId]);
      return rowCount ?? 0;
    },
    /**
     * The next whole number and a fraction of its own: versions of one run grow, those of two differ. Upstream counts both
     * up by one, keeps the value of the first run under that version, and shows it to the second.
     */
    nextVersion(current) {
      const next = Math.floor(current ?? 0) + 1;
      // Eight digits: with as many before the point PostgreSQL still writes the number as JavaScript does.
      const hex = ids.uuid().replaceAll("-", "").slice(-12);
      const fraction = (Number.parseInt(hex, 16) % 99_999_999) + 1;
      return Number(`${next}.${String(fraction).padStart(8, "0")}`);
    },
  });
}

/**
 * Writes every table anew: a plain VACUUM leaves the bytes of deleted rows in their pages until these are used again. What
 * the planner has sampled of a table, whole values among it, stays until the table is analysed anew.
 */
async function scrubTables(database: PostgresDatabase): Promise<ScrubReport> {
  try {
    await database.apart(async (client) => {
      await client.query(`SET lock_timeout = ${SCRUB_TIMEOUT_MS}`);
      for (const table of SCRUBBED) await client.query(`VACUUM (FULL, ANALYZE) ${database.schema}.${table}`);
    });
    return { outcome: "done", files: SCRUBBED.length };
  } catch (error) {
    if (!isLilyError(error)) throw error;
    return {
      outcome: "unfinished",
      why: `what was deleted may still stand in the tables: ${error.message}`,
    };
  }
}

/** `host:port/database`, with the defaults of the client for what is left out. @throws {LilyError} `config_invalid` */
function addressOf(connectionString: string): string {
  try {
    // The client takes any text for the name of a database on some host.
    if (!/^postgres(?:ql)?:\/\//u.test(connectionString)) throw new TypeError("another kind of address");
    const { host, port, database = "" } = new Client({ connectionString });
    return `${host}:${port}/${database}`;
  } catch {
    // The error holds the address, and with it the password.
    throw new LilyError("config_invalid", "the address of the PostgreSQL database cannot be read", {
      next: "Write it as postgresql://user:password@host:5432/database.",
    });
  }
}
