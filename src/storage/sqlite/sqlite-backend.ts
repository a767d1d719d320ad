/** The local backend: two SQLite files, one for checkpoints and one for everything else. */
import { dirname } from "node:path";
import type { Database } from "better-sqlite3";
import { openDatabase } from "#memory/stores/sqlite/open-database.ts";
import { SqliteStore, type StoreIndex } from "#memory/stores/sqlite/sqlite-store.ts";
import { STORE_SCHEMA } from "#memory/stores/sqlite/store-schema.ts";
import type { Clock } from "#src/kernel/clock.ts";
import type { StorageBackend } from "../backend.ts";
import { scrubFiles } from "./sqlite-erasure.ts";
import { SqliteKeyLock } from "./sqlite-key-lock.ts";
import { SqliteSessionSaver } from "./sqlite-session-saver.ts";
import { assertStoreNotLost, watchStoreFile } from "./store-file.ts";

/** SQLite's name for a database that lives in its connection. */
const IN_MEMORY = ":memory:";

export interface SqliteBackendOptions {
  readonly checkpointPath: string;
  readonly storePath: string;
  readonly clock: Clock;
  /** `FULL`, the default: a committed turn survives a power loss; `NORMAL`: a crash of the program. */
  readonly synchronous?: "NORMAL" | "FULL";
  /** How long a lease lasts without renewal, in milliseconds; 10 s by default. */
  readonly leaseMs?: number;
  /** What the store searches, and how. */
  readonly index?: StoreIndex;
}

/**
 * Opens the two files, making them where they are missing. Any number of processes may have them open.
 *
 * @throws {LilyError} a storage error that names the file; then neither is left open. `storage_damaged` too when the store
 *   is missing or empty and there are checkpoints, and by each write after the store file was removed or replaced
 */
export function openSqliteBackend(options: SqliteBackendOptions): StorageBackend {
  const opened: Database[] = [];
  const open = (path: string, extra: Parameters<typeof openDatabase>[1] = {}): Database => {
    const db = openDatabase(path, extra);
    opened.push(db);
    return db;
  };
  try {
    if (options.storePath !== IN_MEMORY) assertStoreNotLost(options.storePath, options.checkpointPath);
    const checkpointDb = open(options.checkpointPath);
    const storeDb = open(options.storePath, {
      schema: STORE_SCHEMA,
      synchronous: options.synchronous ?? "FULL",
    });
    return assemble(checkpointDb, storeDb, options);
  } catch (error) {
    for (const db of opened) db.close();
    throw error;
  }
}

/** An empty backend that forgets everything when it is closed: for tests, tries and evaluations. */
export function createMemoryBackend(
  options: Omit<SqliteBackendOptions, "checkpointPath" | "storePath">,
): StorageBackend {
  const backend = openSqliteBackend({ ...options, checkpointPath: IN_MEMORY, storePath: IN_MEMORY });
  return { ...backend, name: "memory", location: "this process (nothing is kept)" };
}

function assemble(checkpointDb: Database, storeDb: Database, options: SqliteBackendOptions): StorageBackend {
  const { clock, leaseMs, index } = options;
  const checkpointer = new SqliteSessionSaver(checkpointDb);
  const store = new SqliteStore(storeDb, { clock, ...(index === undefined ? {} : { index }) });
  const assertInPlace = options.storePath === IN_MEMORY ? () => undefined : watchStoreFile(options.storePath);
  const locks = new SqliteKeyLock(storeDb, { clock, leaseMs });
  return {
    name: "sqlite",
    location: locationOf(options),
    checkpointer,
    store: store.withGuard(assertInPlace),
    ...(index?.embed === undefined ? {} : { fillVectors: (limit: number) => store.fillVectors(limit) }),
    locks,
    fencedStore: (lease) =>
      store.withGuard(() => {
        assertInPlace();
        locks.assertHeld(lease);
      }),
    erasure: {
      scrub: () => scrubFiles([checkpointDb, storeDb]),
      forgetLocks: (prefix) => locks.forget(prefix),
    },
    async close() {
      await locks.releaseAll();
      // Closing the last connection folds the write-ahead log into its file and removes it.
      checkpointDb.close();
      storeDb.close();
    },
  };
}

function locationOf({ checkpointPath, storePath }: SqliteBackendOptions): string {
  return [...new Set([dirname(checkpointPath), dirname(storePath)])].join(" and ");
}
