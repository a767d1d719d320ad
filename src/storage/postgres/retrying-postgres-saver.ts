/** LangGraph's PostgreSQL checkpointer with versions that never collide, and errors that say what is wrong. */
import type { RunnableConfig } from "@langchain/core/runnables";
import type {
  ChannelVersions,
  Checkpoint,
  CheckpointListOptions,
  CheckpointMetadata,
  CheckpointTuple,
  PendingWrite,
} from "@langchain/langgraph-checkpoint";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { escapeIdentifier, type Pool } from "pg";
import { retryConflicts, withServer } from "#memory/stores/postgres/postgres-errors.ts";
import type { Ids } from "#src/kernel/ids.ts";
import { toStorableText } from "#src/kernel/json.ts";
import type { PointSaver } from "../checkpoints/buffered-saver.ts";
import { StateSerde } from "../checkpoints/state-serde.ts";
import { withNamespace } from "../checkpoints/checkpoint-calls.ts";
import { listKeysSql, newestIdSql, type CheckpointKey } from "./put-order.ts";

/** Options of {@link RetryingPostgresSaver}. */
export interface RetryingPostgresSaverOptions {
  readonly schema: string;
  /** The server's name in error messages. */
  readonly server: string;
  readonly ids: Pick<Ids, "uuid">;
}

/**
 * `PostgresSaver` with these differences: two runs from the same checkpoint give a channel different versions (upstream
 * counts both up by one, keeps the value of the first run under that version and shows it to the second); NUL and
 * halves of surrogate pairs in metadata, which jsonb refuses, are replaced as `toStorableText` does; an absent
 * `checkpoint_ns` is `""` everywhere; the newest checkpoint is the one that was put last, whatever its id; deadlocks are
 * tried again; errors arrive as `LilyError`s that name the server.
 */
export class RetryingPostgresSaver extends PostgresSaver implements PointSaver {
  readonly #pool: Pool;
  readonly #schema: string;
  readonly #server: string;
  readonly #ids: Pick<Ids, "uuid">;

  constructor(pool: Pool, { schema, server, ids }: RetryingPostgresSaverOptions) {
    super(pool, new StateSerde(), { schema });
    this.#pool = pool;
    this.#schema = schema;
    this.#server = server;
    this.#ids = ids;
  }

  /** The next whole number and a fraction of its own: versions of one run grow, those of two differ. */
  override getNextVersion(current: number | undefined): number {
    const next = Math.floor(current ?? 0) + 1;
    // Eight digits: with as many before the point PostgreSQL still writes the number as JavaScript does.
    const fraction = Number.parseInt(this.#ids.uuid().replaceAll("-", "").slice(-12), 16) % 99_999_999;
    return Number(`${next}.${String(fraction + 1).padStart(8, "0")}`);
  }

  override getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const wanted: unknown = config.configurable?.["checkpoint_id"];
    if (wanted !== undefined) return this.#retry(() => super.getTuple(config));
    return this.#newestTuple(config);
  }

  async #newestTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    for (;;) {
      const id = await this.newestId(config);
      if (id === undefined) return undefined;
      const newest = { configurable: { ...config.configurable, checkpoint_id: id } };
      const tuple = await this.#retry(() => super.getTuple(newest));
      // It may have been pruned meanwhile, when a newer one had come.
      if (tuple !== undefined) return tuple;
    }
  }

  async newestId(config: RunnableConfig): Promise<string | undefined> {
    const { thread_id: threadId, checkpoint_ns: namespace } = withNamespace(config).configurable ?? {};
    const { rows } = await this.#retry(() =>
      this.#pool.query<CheckpointKey>(newestIdSql(this.#schema), [threadId, namespace]),
    );
    return rows[0]?.checkpoint_id;
  }

  override async *list(
    config: RunnableConfig,
    options: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    const condition = this._searchWhere(config, options.filter);
    const { text, values } = listKeysSql(this.#schema, condition, options);
    const { rows } = await this.#retry(() => this.#pool.query<CheckpointKey>(text, values));
    for (const configurable of rows) {
      const tuple = await this.getTuple({ configurable });
      // Pruned since the list was made.
      if (tuple !== undefined) yield tuple;
    }
  }

  override put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    return this.#retry(() => super.put(config, checkpoint, storable(metadata), newVersions));
  }

  override putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    return this.#retry(() => super.putWrites(withNamespace(config), writes, taskId));
  }

  /** The values of channels that only they had are left to the retention. */
  async dropCheckpoints(config: RunnableConfig, ids: readonly string[]): Promise<void> {
    const { thread_id: threadId, checkpoint_ns: namespace } = withNamespace(config).configurable ?? {};
    const values = [threadId, namespace, [...ids]];
    const drop = (table: string): Promise<unknown> =>
      this.#pool.query(
        `DELETE FROM ${escapeIdentifier(this.#schema)}.${table}
         WHERE thread_id = $1 AND checkpoint_ns = $2 AND checkpoint_id = ANY ($3)`,
        values,
      );
    await this.#retry(() => drop("checkpoint_writes"));
    await this.#retry(() => drop("checkpoints"));
  }

  override deleteThread(threadId: string): Promise<void> {
    return this.#retry(() => super.deleteThread(threadId));
  }

  #retry<T>(work: () => Promise<T>): Promise<T> {
    return withServer(this.#server, () => retryConflicts(work));
  }
}

function storable(metadata: CheckpointMetadata): CheckpointMetadata {
  const json = JSON.stringify(metadata);
  if (!/\\u(?:0000|d[89a-f])/u.test(json)) return metadata;
  return JSON.parse(json, (_key, value: unknown) =>
    typeof value === "string" ? toStorableText(value) : value,
  ) as CheckpointMetadata;
}
