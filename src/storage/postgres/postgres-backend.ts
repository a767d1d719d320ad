/** The backend for several hosts: one PostgreSQL database for checkpoints, store and locks. */
import { Pool, type PoolConfig } from "pg";
import { withServer } from "#memory/stores/postgres/postgres-errors.ts";
import { PostgresStore, type PostgresStoreOptions } from "#memory/stores/postgres/postgres-store.ts";
import { inSetup, setUpStore } from "#memory/stores/postgres/store-schema.ts";
import type { Clock } from "#src/kernel/clock.ts";
import type { Ids } from "#src/kernel/ids.ts";
import type { StorageBackend } from "../backend.ts";
import { BufferedSaver } from "../checkpoints/buffered-saver.ts";
import { setUpLeases } from "./lease-statements.ts";
import { addressOf, configOf } from "./postgres-address.ts";
import { createPostgresErasure } from "./postgres-erasure.ts";
import { createPostgresKeyLock } from "./postgres-key-lock.ts";
import { createPostgresRetention } from "./postgres-retention.ts";
import { setUpCheckpoints } from "./set-up-checkpoints.ts";
import { RetryingPostgresSaver } from "./retrying-postgres-saver.ts";

/** Options of {@link openPostgresBackend}. */
export interface PostgresBackendOptions {
  /**
   * `postgresql://user:password@host:5432/database`, or a pool, which is then not ended. Beside the pool each process
   * has one connection for its locks, which needs a session of its own (no pooler in transaction mode).
   */
  readonly connection: string | Pool;
  /** Where the tables are; `public` by default. It is made where it is missing. */
  readonly schema?: string;
  readonly clock: Clock;
  readonly ids: Pick<Ids, "uuid">;
  /** How long a holder of a lock may be silent before it is thrown out, in milliseconds; 30 s by default. */
  readonly leaseMs?: number;
  /** Most connections of the pool, beside the one for locks; 10 by default. */
  readonly maxConnections?: number;
  /** What the store indexes when a `put` does not say. */
  readonly index?: NonNullable<PostgresStoreOptions["index"]>;
}

const CONNECT_TIMEOUT_MS = 10_000;

// A process that stands still in the middle of a write would block the next holder of its lock.
const IDLE_TRANSACTION_TIMEOUT_MS = 15_000;

/**
 * Connects, and makes the tables where they are missing. Any number of processes may do so at once.
 *
 * @throws {LilyError} `config_invalid` for an address that cannot be read; a storage error that names the server without
 *   its password; then no connection is left open
 */
export async function openPostgresBackend(options: PostgresBackendOptions): Promise<StorageBackend> {
  const { connection, schema = "public" } = options;
  const config = typeof connection === "string" ? { connectionString: connection } : configOf(connection);
  const server = addressOf(config);
  const pool = typeof connection === "string" ? openPool(config, options) : connection;
  const endPool = async (): Promise<void> => {
    if (pool !== connection && !pool.ended) await pool.end();
  };
  try {
    const checkpointer = new RetryingPostgresSaver(pool, { schema, server, ids: options.ids });
    await setUp(pool, { schema, server });
    return assemble(pool, { ...options, schema, server, config, checkpointer, endPool });
  } catch (error) {
    await endPool();
    throw error;
  }
}

function openPool(config: PoolConfig, { maxConnections = 10 }: PostgresBackendOptions): Pool {
  const pool = new Pool({
    ...config,
    max: maxConnections,
    application_name: "lily",
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_TIMEOUT_MS,
  });
  // A connection that ends while nobody uses it is replaced when it is needed; without a listener the process would end.
  pool.on("error", () => undefined);
  return pool;
}

interface SetUpContext {
  readonly schema: string;
  readonly server: string;
}

async function setUp(pool: Pool, { schema, server }: SetUpContext): Promise<void> {
  await withServer(server, () =>
    inSetup(pool, async (client) => {
      await setUpStore(client, schema);
      await setUpLeases(client, schema);
      await setUpCheckpoints(client, schema);
    }),
  );
}

interface Parts extends PostgresBackendOptions {
  readonly schema: string;
  readonly server: string;
  readonly checkpointer: RetryingPostgresSaver;
  readonly config: PoolConfig;
  readonly endPool: () => Promise<void>;
}

function assemble(pool: Pool, parts: Parts): StorageBackend {
  const { clock, index, schema, server, config, leaseMs, checkpointer } = parts;
  const store = new PostgresStore(pool, { clock, schema, server, ...(index === undefined ? {} : { index }) });
  const buffered = new BufferedSaver(checkpointer);
  const lease = leaseMs === undefined ? {} : { leaseMs };
  const locks = createPostgresKeyLock({ connection: config, schema, server, ...lease });
  return {
    name: "postgres",
    location: server,
    checkpointer: buffered,
    persist: (threadId) => buffered.persist(threadId),
    store,
    locks,
    retention: createPostgresRetention(pool, { schema, server }),
    fencedStore: (ref) => store.withGuard((client) => locks.assertHeld(client, ref)),
    erasure: createPostgresErasure(pool, { schema, server, locks }),
    async close() {
      await buffered.persist();
      await locks.close();
      await parts.endPool();
    },
  };
}
