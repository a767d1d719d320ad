/** LangGraph's `PostgresSaver` with what it lacks: versions that never collide, small threads, errors that say what is wrong. */
import type { RunnableConfig } from "@langchain/core/runnables";
import type {
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
  CheckpointTuple,
  PendingWrite,
} from "@langchain/langgraph-checkpoint";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { escapeIdentifier, type Pool } from "pg";
import { retryConflicts, withServer } from "#memory/stores/postgres/postgres-errors.ts";
import { isLilyError } from "#src/kernel/errors.ts";
import type { Ids } from "#src/kernel/ids.ts";
import type { SessionSaver } from "../backend.ts";

export interface PostgresSessionSaverOptions {
  readonly schema: string;
  /** The server's name in error messages. */
  readonly server: string;
  readonly ids: Pick<Ids, "uuid">;
}

/** The checkpointer of many servers. Its tables are made by `setup`. Errors of PostgreSQL arrive as `LilyError`s. */
export class PostgresSessionSaver extends PostgresSaver implements SessionSaver {
  readonly #pool: Pool;
  readonly #options: PostgresSessionSaverOptions;
  readonly #dropped = new Set<string>();

  constructor(pool: Pool, options: PostgresSessionSaverOptions) {
    super(pool, undefined, { schema: options.schema });
    this.#pool = pool;
    this.#options = options;
  }

  /**
   * The next whole number and a fraction of its own: versions of one run grow, those of two differ. Upstream counts both up
   * by one, keeps the value of the first run under that version, and shows it to the second.
   */
  override getNextVersion(current: number | undefined): number {
    const next = Math.floor(current ?? 0) + 1;
    // Eight digits: with as many before the point PostgreSQL still writes the number as JavaScript does.
    const hex = this.#options.ids.uuid().replaceAll("-", "").slice(-12);
    const fraction = (Number.parseInt(hex, 16) % 99_999_999) + 1;
    return Number(`${next}.${String(fraction).padStart(8, "0")}`);
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

  /** Puts a checkpoint that is the newest from now on: one that the faster clock of another server put is dropped. */
  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const { thread_id: threadId, checkpoint_ns: namespace = "" } = config.configurable ?? {};
    const later = `DELETE FROM ${this.#table("checkpoints")}
      WHERE thread_id = $1 AND checkpoint_ns = $2 AND checkpoint_id > $3`;
    const put = await this.#retry(() => super.put(config, checkpoint, metadata, newVersions));
    await this.#retry(() => this.#pool.query(later, [threadId, namespace, checkpoint.id]));
    return put;
  }

  /** An absent namespace is the root, as it is everywhere else. */
  override putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const configurable = { checkpoint_ns: "", ...config.configurable };
    return this.#retry(() => super.putWrites({ ...config, configurable }, writes, taskId));
  }

  override deleteThread(threadId: string): Promise<void> {
    return this.#retry(() => super.deleteThread(threadId));
  }

  /** Keeps the newest `count` checkpoints of a thread, at least one, and what its subgraphs wrote since. @returns how many went */
  async retain(threadId: string, count: number): Promise<number> {
    const checkpoints = this.#table("checkpoints");
    const keptBy = (table: string, condition = "true"): string => `
      DELETE FROM ${this.#table(table)} AS old WHERE old.thread_id = $1 AND NOT EXISTS (
        SELECT FROM ${checkpoints} AS kept WHERE kept.thread_id = old.thread_id
          AND kept.checkpoint_ns = old.checkpoint_ns AND ${condition})`;
    // Not for graphs with LangGraph's (beta) delta channels: they read values out of any ancestor.
    const older = `DELETE FROM ${checkpoints} WHERE thread_id = $1 AND checkpoint_id < (
      SELECT checkpoint_id FROM ${checkpoints} WHERE thread_id = $1 AND checkpoint_ns = ''
      ORDER BY checkpoint_id DESC LIMIT 1 OFFSET $2)`;
    const writes = keptBy("checkpoint_writes", "kept.checkpoint_id = old.checkpoint_id");
    const blobs = keptBy(
      "checkpoint_blobs",
      "kept.checkpoint -> 'channel_versions' ->> old.channel = old.version",
    );
    // Each statement is one transaction; what a crash in between leaves is found by the next call.
    const { rowCount } = await this.#retry(() => this.#pool.query(older, [threadId, Math.max(1, count) - 1]));
    for (const unused of [writes, blobs]) await this.#retry(() => this.#pool.query(unused, [threadId]));
    return rowCount ?? 0;
  }

  /** Whether the thread was dropped since this was asked last. */
  takeDropped(threadId: string): boolean {
    return this.#dropped.delete(threadId);
  }

  #table(name: string): string {
    return `${escapeIdentifier(this.#options.schema)}.${name}`;
  }

  #retry<T>(work: () => Promise<T>): Promise<T> {
    return withServer(this.#options.server, () => retryConflicts(work));
  }
}
