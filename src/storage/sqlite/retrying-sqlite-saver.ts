/** LangGraph's SQLite checkpointer for files that several processes write: waits for locks, and says what is wrong. */
import type { RunnableConfig } from "@langchain/core/runnables";
import type {
  Checkpoint,
  CheckpointListOptions,
  CheckpointMetadata,
  CheckpointTuple,
  PendingWrite,
} from "@langchain/langgraph-checkpoint";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { toStorageError } from "#memory/stores/sqlite/sqlite-errors.ts";
import { retryBusy } from "#memory/stores/sqlite/retry-busy.ts";
import { startedBy, withNamespace } from "../checkpoint-calls.ts";

/**
 * `SqliteSaver` with three differences: a locked file is waited for without blocking the event loop, errors of SQLite
 * arrive as `LilyError`s that name the file, and an absent `checkpoint_ns` is `""` everywhere. (Upstream drops the
 * writes of a config without one in silence: NULL does not fit the column, and the insert is `OR IGNORE`.)
 */
export class RetryingSqliteSaver extends SqliteSaver {
  /** Makes the tables. @throws {LilyError} a storage error that names the file */
  open(): void {
    try {
      this.setup();
    } catch (error) {
      throw toStorageError(error, this.db.name);
    }
  }

  override getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    return this.#retry(() => super.getTuple(config));
  }

  override async *list(
    config: RunnableConfig,
    options?: CheckpointListOptions,
  ): AsyncGenerator<CheckpointTuple> {
    yield* startedBy(
      () => super.list(config, options),
      (work) => this.#retry(work),
    );
  }

  override put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
  ): Promise<RunnableConfig> {
    return this.#retry(() => super.put(config, checkpoint, metadata));
  }

  override putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    return this.#retry(() => super.putWrites(withNamespace(config), writes, taskId));
  }

  override deleteThread(threadId: string): Promise<void> {
    return this.#retry(() => {
      this.setup();
      return super.deleteThread(threadId);
    });
  }

  #retry<T>(work: () => Promise<T>): Promise<T> {
    return retryBusy(work, { file: this.db.name });
  }
}
