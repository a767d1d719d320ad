/** The local backend: two SQLite files, one for checkpoints and one for everything else. */
import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import SqliteDatabase, { type Database } from "better-sqlite3";
import type { StoreIndex } from "#memory/stores/index-fields.ts";
import { hasLog, readHeader } from "#memory/stores/sqlite/migrate.ts";
import { isReadOnly, openCopy, openDatabase } from "#memory/stores/sqlite/open-database.ts";
import { SqliteStore } from "#memory/stores/sqlite/sqlite-store.ts";
import { STORE_SCHEMA } from "#memory/stores/sqlite/store-schema.ts";
import { retryBusy, toStorageError } from "#memory/stores/storage-errors.ts";
import type { Clock } from "#src/kernel/clock.ts";
import { isLilyError, LilyError } from "#src/kernel/errors.ts";
import type { ScrubReport, StorageBackend } from "../backend.ts";
import { DurableSaver } from "../session-saver.ts";
import { SqliteKeyLock } from "./sqlite-key-lock.ts";

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
  const { checkpointPath, storePath, synchronous = "FULL" } = options;
  if (options.mayOnlyRead === true && isReadOnly(storePath)) return openForReading(options);
  const opened: Database[] = [];
  const open = (...given: Parameters<typeof openDatabase>): Database => {
    const db = openDatabase(...given);
    opened.push(db);
    return db;
  };
  try {
    if (storePath !== IN_MEMORY) assertStoreNotLost(storePath, checkpointPath);
    const checkpointDb = open(checkpointPath);
    const storeDb = open(storePath, { schema: STORE_SCHEMA, synchronous });
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
  assertWritable = watchStoreFile(options.storePath),
): StorageBackend {
  const { clock, leaseMs, index, checkpointPath, storePath } = options;
  const store = new SqliteStore(storeDb, { clock, index });
  const locks = new SqliteKeyLock(storeDb, { clock, leaseMs });
  return {
    name: "sqlite",
    location: [...new Set([dirname(checkpointPath), dirname(storePath)])].join(" and "),
    checkpointer: createSqliteSaver(checkpointDb),
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
      await locks.close();
      // Closing the last connection folds the write-ahead log into its file and removes it.
      checkpointDb.close();
      storeDb.close();
    },
  };
}

const DELETE_LATER =
  "DELETE FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id > ?";

// Only the session's own checkpoints count; of a subgraph that a tool runs, the newest is kept where it outlives its run.
const DELETE_OLDER = `
  DELETE FROM checkpoints WHERE thread_id = @threadId AND checkpoint_id < (
    SELECT checkpoint_id FROM checkpoints WHERE thread_id = @threadId AND checkpoint_ns = ''
    ORDER BY checkpoint_id DESC LIMIT 1 OFFSET @count - 1)
  AND (instr(checkpoint_ns, ':') > 0 OR checkpoint_id < (
    SELECT max(newest.checkpoint_id) FROM checkpoints AS newest
    WHERE newest.thread_id = checkpoints.thread_id AND newest.checkpoint_ns = checkpoints.checkpoint_ns))`;

const DELETE_WRITES = `
  DELETE FROM writes WHERE thread_id = @threadId AND NOT EXISTS (
    SELECT 1 FROM checkpoints AS kept
    WHERE kept.thread_id = writes.thread_id AND kept.checkpoint_ns = writes.checkpoint_ns
      AND kept.checkpoint_id = writes.checkpoint_id)`;

/** Of a thread, its newest `count` checkpoints. */
interface Kept {
  readonly threadId: string;
  readonly count: number;
}

/** LangGraph's saver makes its tables when it is first asked for something; ours are there when the file is opened. */
class ReadySaver extends SqliteSaver {
  constructor(db: Database) {
    super(db);
    this.setup();
  }
}

/**
 * The checkpointer of a home folder. Errors of SQLite arrive as `LilyError`s that name the file.
 *
 * @throws {LilyError} a storage error that names the file, when the tables cannot be made
 */
function createSqliteSaver(db: Database): DurableSaver {
  const run = <T>(work: () => T | Promise<T>): Promise<T> => retryBusy(work, { file: db.name });
  try {
    const stock = new ReadySaver(db);
    const later = db.prepare<[threadId: string, namespace: string, checkpointId: string]>(DELETE_LATER);
    const older = db.prepare<[Kept]>(DELETE_OLDER);
    const writes = db.prepare<[Pick<Kept, "threadId">]>(DELETE_WRITES);
    const retain = db.transaction((kept: Kept) => {
      const { changes } = older.run(kept);
      writes.run(kept);
      return changes;
    });
    return new DurableSaver(stock, {
      run,
      deleteLater: (threadId, namespace, checkpointId) => later.run(threadId, namespace, checkpointId),
      retain: (threadId, count) => run(() => retain.immediate({ threadId, count })),
    });
  } catch (error) {
    throw toStorageError(error, db.name);
  }
}

const FROM_A_BACKUP =
  "Put the file back, or restore a backup: lily restore <folder>. Nothing was written; lily doctor tells more.";

/**
 * Called before anything is opened: a store without tables would begin every conversation anew, without a word.
 *
 * @throws {LilyError} `storage_damaged` when the store is missing or has no tables, and there are checkpoints
 */
export function assertStoreNotLost(storePath: string, checkpointPath: string): void {
  // With a log beside it SQLite has to read it, and will tell.
  if (hasLog(storePath)) return;
  const isThere = existsSync(storePath);
  const isEmpty = !isThere || statSync(storePath).size === 0 || readHeader(storePath)?.version === 0;
  if (!isEmpty || !hasCheckpoints(checkpointPath)) return;
  throw new LilyError(
    "storage_damaged",
    `the database ${storePath} is ${isThere ? "empty" : "missing"}, and ${checkpointPath} has checkpoints of conversations`,
    { next: FROM_A_BACKUP },
  );
}

/** Opened for writing, because closing such a connection leaves no log behind. */
function hasCheckpoints(path: string): boolean {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) return false;
  const db = new SqliteDatabase(path, { fileMustExist: true });
  try {
    const table = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'checkpoints'").get();
    return table !== undefined && db.prepare("SELECT 1 FROM checkpoints LIMIT 1").get() !== undefined;
  } catch {
    // What cannot be read is not empty.
    return true;
  } finally {
    db.close();
  }
}

/**
 * What tells, before each write, whether `path` is still the file that was opened.
 *
 * @throws {LilyError} `storage_damaged` when it was removed or replaced
 */
function watchStoreFile(path: string): () => void {
  if (path === IN_MEMORY) return () => undefined;
  const inode = (): string | undefined => {
    const stat = statSync(path, { throwIfNoEntry: false, bigint: true });
    return stat === undefined ? undefined : `${stat.dev} ${stat.ino}`;
  };
  const opened = inode();
  return () => {
    const found = inode();
    if (found === opened) return;
    const what = found === undefined ? "removed" : "replaced by another file";
    throw new LilyError("storage_damaged", `the database ${path} was ${what} while it was in use`, {
      next: `${FROM_A_BACKUP} Then start again.`,
    });
  };
}

/** Longest wait of a scrub for another process, for each file and step. */
const SCRUB_DEADLINE_MS = 3_000;

const WHY_LEFT: Readonly<Record<string, string>> = {
  storage_busy: "another program reads or writes it",
  storage_full: "there is no room to write it anew",
};

/**
 * Rewrites each file and empties its log. `secure_delete` overwrites what is deleted, but not what SQLite has moved
 * within a page or from page to page before that: only a file that was written anew is sure to hold what is there and no
 * more. The log has every page as it was until it is emptied, for which no other connection may be reading.
 */
export async function scrubFiles(
  databases: readonly Database[],
  deadlineMs = SCRUB_DEADLINE_MS,
): Promise<ScrubReport> {
  const left: string[] = [];
  for (const db of databases) {
    try {
      for (const step of [() => void db.exec("VACUUM"), () => emptyLog(db)])
        await retryBusy(step, { file: db.name, deadlineMs });
    } catch (error) {
      if (!isLilyError(error)) throw error;
      left.push(`${db.name}: ${WHY_LEFT[error.code] ?? "it cannot be written"}`);
    }
  }
  if (left.length === 0) return { outcome: "done", files: databases.length };
  return { outcome: "unfinished", why: `what was deleted may still stand in ${left.join("; ")}` };
}

function emptyLog(db: Database): void {
  const [state] = db.prepare<[], { busy: number }>("PRAGMA wal_checkpoint(TRUNCATE)").all();
  if (state?.busy === 1) throw Object.assign(new Error("a reader holds the log"), { code: "SQLITE_BUSY" });
}
