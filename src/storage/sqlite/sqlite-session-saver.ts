/** LangGraph's `SqliteSaver` for a file that several processes write: it waits for locks, and keeps a thread small. */
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import type { Database } from "better-sqlite3";
import { retryBusy, toStorageError } from "#memory/stores/storage-errors.ts";
import { DurableSaver } from "../session-saver.ts";

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
export function createSqliteSaver(db: Database): DurableSaver {
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
