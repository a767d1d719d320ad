/** LangGraph's `SqliteSaver` for a file that several processes write: it waits for locks, and keeps a thread small. */
import type { RunnableConfig } from "@langchain/core/runnables";
import type {
  Checkpoint,
  CheckpointMetadata,
  CheckpointTuple,
  PendingWrite,
} from "@langchain/langgraph-checkpoint";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import type { Database, Statement, Transaction } from "better-sqlite3";
import { retryBusy } from "#memory/stores/sqlite/retry-busy.ts";
import { toStorageError } from "#memory/stores/sqlite/sqlite-errors.ts";
import { isLilyError } from "#src/kernel/errors.ts";
import type { SessionSaver } from "../backend.ts";

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

/** The checkpointer of a home folder. Errors of SQLite arrive as `LilyError`s that name the file. */
export class SqliteSessionSaver extends SqliteSaver implements SessionSaver {
  readonly #dropped = new Set<string>();
  readonly #deleteLater: Statement<[threadId: string, namespace: string, checkpointId: string]>;
  readonly #retain: Transaction<(kept: Kept) => number>;

  /** @throws {LilyError} a storage error that names the file, when the tables cannot be made */
  constructor(db: Database) {
    super(db);
    try {
      this.setup();
      this.#deleteLater = db.prepare(DELETE_LATER);
      const older = db.prepare<[Kept]>(DELETE_OLDER);
      const writes = db.prepare<[Pick<Kept, "threadId">]>(DELETE_WRITES);
      this.#retain = db.transaction((kept) => {
        const { changes } = older.run(kept);
        writes.run(kept);
        return changes;
      });
    } catch (error) {
      throw toStorageError(error, db.name);
    }
  }

  /** The checkpoint; a thread that cannot be read is dropped, because the transcript makes up for it. */
  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    try {
      return await this.#retry(() => super.getTuple(config));
    } catch (error) {
      const threadId: unknown = config.configurable?.["thread_id"];
      if (isLilyError(error) || typeof threadId !== "string") throw error;
      await this.deleteThread(threadId);
      this.#dropped.add(threadId);
      return undefined;
    }
  }

  /** Puts a checkpoint that is the newest from now on: ids go by a clock, which may be set back. */
  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
  ): Promise<RunnableConfig> {
    const { thread_id: threadId, checkpoint_ns: namespace = "" } = config.configurable ?? {};
    const stored = await this.#retry(() => super.put(config, checkpoint, metadata));
    await this.#retry(() => this.#deleteLater.run(threadId, namespace, checkpoint.id));
    return stored;
  }

  override putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    return this.#retry(() => super.putWrites(config, writes, taskId));
  }

  override deleteThread(threadId: string): Promise<void> {
    return this.#retry(() => super.deleteThread(threadId));
  }

  async retain(threadId: string, count: number): Promise<number> {
    return this.#retry(() => this.#retain.immediate({ threadId, count }));
  }

  takeDropped(threadId: string): boolean {
    return this.#dropped.delete(threadId);
  }

  #retry<T>(work: () => T | Promise<T>): Promise<T> {
    return retryBusy(work, { file: this.db.name });
  }
}
