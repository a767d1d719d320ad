/** A stock LangGraph saver around which it is no reason for a conversation to end that a checkpoint cannot be read. */
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type PendingWrite,
} from "@langchain/langgraph-checkpoint";
import { isLilyError } from "#src/kernel/errors.ts";
import type { SessionSaver } from "./backend.ts";

/** What a database does for its saver. */
export interface SaverDatabase {
  /** Runs work on the database, again where that may help; its errors are `LilyError`s that name the database. */
  run<T>(work: () => T | Promise<T>): Promise<T>;
  /** Deletes the checkpoints of a thread whose ids are later than one. */
  deleteLater(threadId: string, namespace: string, checkpointId: string): unknown;
  /** As {@link SessionSaver.retain}. */
  retain(threadId: string, count: number): Promise<number>;
  /** The next version of a channel, where the saver's own will not do. */
  readonly nextVersion?: (current: number | undefined) => number;
}

/** Makes the checkpointer of sessions out of a stock one. */
export class DurableSaver extends BaseCheckpointSaver implements SessionSaver {
  readonly #stock: BaseCheckpointSaver;
  readonly #database: SaverDatabase;
  readonly #dropped = new Set<string>();

  constructor(stock: BaseCheckpointSaver, database: SaverDatabase) {
    super(stock.serde);
    this.#stock = stock;
    this.#database = database;
  }

  /** The checkpoint; a thread that cannot be read is dropped, because the transcript makes up for it. */
  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    try {
      return await this.#database.run(() => this.#stock.getTuple(config));
    } catch (error) {
      const threadId: unknown = config.configurable?.["thread_id"];
      if (isLilyError(error) || typeof threadId !== "string") throw error;
      await this.deleteThread(threadId);
      this.#dropped.add(threadId);
      return undefined;
    }
  }

  list(config: RunnableConfig, options?: CheckpointListOptions): AsyncGenerator<CheckpointTuple> {
    return this.#stock.list(config, options);
  }

  /** Puts a checkpoint that is the newest from now on: ids go by a clock, which may be set back, or be another server's. */
  async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const { thread_id: threadId, checkpoint_ns: namespace = "" } = config.configurable ?? {};
    const put = await this.#database.run(() => this.#stock.put(config, checkpoint, metadata, newVersions));
    await this.#database.run(() => this.#database.deleteLater(threadId, namespace, checkpoint.id));
    return put;
  }

  /** An absent namespace is the root, as it is everywhere else. */
  putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const configurable = { checkpoint_ns: "", ...config.configurable };
    return this.#database.run(() => this.#stock.putWrites({ ...config, configurable }, writes, taskId));
  }

  deleteThread(threadId: string): Promise<void> {
    return this.#database.run(() => this.#stock.deleteThread(threadId));
  }

  override getNextVersion(current: number | undefined): number {
    return this.#database.nextVersion?.(current) ?? this.#stock.getNextVersion(current);
  }

  retain(threadId: string, count: number): Promise<number> {
    return this.#database.retain(threadId, count);
  }

  takeDropped(threadId: string): boolean {
    return this.#dropped.delete(threadId);
  }
}
