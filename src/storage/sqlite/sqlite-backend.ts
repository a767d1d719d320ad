/** The local backend: two SQLite files, one for checkpoints and one for everything else. */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import SqliteDatabase, { type Database } from "better-sqlite3";
import { isReadOnly, openCopy } from "#memory/stores/sqlite/open-copy.ts";
import { toStorageError } from "#memory/stores/sqlite/sqlite-errors.ts";
import { openDatabase } from "#memory/stores/sqlite/open-database.ts";
import type { StoreIndex } from "#memory/stores/index-fields.ts";
import { SqliteStore } from "#memory/stores/sqlite/sqlite-store.ts";
import { STORE_SCHEMA } from "#memory/stores/sqlite/store-schema.ts";
import type { Clock } from "#src/kernel/clock.ts";
import { LilyError } from "#src/kernel/errors.ts";
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
  /** Files that cannot be written are read all the same; each write is refused. Left out, they are not opened. */
  readonly mayOnlyRead?: boolean;
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
  if (options.mayOnlyRead === true && isReadOnly(options.storePath)) return openForReading(options);
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

/** What the files hold now; nothing is written to them, and what is read later by others is not seen. */
function openForReading(options: SqliteBackendOptions): StorageBackend {
  const { checkpointPath, storePath } = options;
  const refuse = (): never => {
    throw new LilyError("storage_readonly", `the database ${storePath} cannot be written`, {
      next: "Nothing was stored, and nothing is lost: send it again when the home folder can be written, or set LILY_HOME to a copy.",
    });
  };
  try {
    const checkpoints = existsSync(checkpointPath) ? openCopy(checkpointPath) : new SqliteDatabase(IN_MEMORY);
    const { fillVectors: _none, ...backend } = assemble(checkpoints, openCopy(storePath), options, refuse);
    return {
      ...backend,
      fencedStore: refuse,
      locks: { acquire: async () => refuse(), holder: (name) => backend.locks.holder(name) },
      notice: `${storePath} cannot be written: what is kept can be read, and no message is taken`,
    };
  } catch (error) {
    throw toStorageError(error, storePath);
  }
}

function assemble(
  checkpointDb: Database,
  storeDb: Database,
  options: SqliteBackendOptions,
  assertWritable = guardOf(options),
): StorageBackend {
  const { clock, leaseMs, index } = options;
  const checkpointer = new SqliteSessionSaver(checkpointDb);
  const store = new SqliteStore(storeDb, { clock, ...(index === undefined ? {} : { index }) });
  const locks = new SqliteKeyLock(storeDb, { clock, leaseMs });
  return {
    name: "sqlite",
    location: locationOf(options),
    checkpointer,
    store: store.withGuard(assertWritable),
    ...(index?.embed === undefined ? {} : { fillVectors: (limit: number) => store.fillVectors(limit) }),
    locks,
    fencedStore: (lease) =>
      store.withGuard(() => {
        assertWritable();
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

function guardOf({ storePath }: SqliteBackendOptions): () => void {
  return storePath === IN_MEMORY ? () => undefined : watchStoreFile(storePath);
}

function locationOf({ checkpointPath, storePath }: SqliteBackendOptions): string {
  return [...new Set([dirname(checkpointPath), dirname(storePath)])].join(" and ");
}
