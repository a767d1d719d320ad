/** LangGraph's SQLite checkpointer for files that several processes write: waits for locks, and says what is wrong. */
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  WRITES_IDX_MAP,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type PendingWrite,
} from "@langchain/langgraph-checkpoint";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import type { Database } from "better-sqlite3";
import { toStorageError } from "#memory/stores/sqlite/sqlite-errors.ts";
import { retryBusy } from "#memory/stores/sqlite/retry-busy.ts";
import { LilyError } from "#src/kernel/errors.ts";
import type { PointSaver } from "../checkpoints/buffered-saver.ts";
import { withNamespace } from "../checkpoints/checkpoint-calls.ts";
import { DamagedCheckpoints, type TellsOfDamage } from "../checkpoints/damaged-checkpoints.ts";
import { StateSerde } from "../checkpoints/state-serde.ts";
import { hasMetadata, listKeys } from "./checkpoint-list.ts";
import { metadataText, readCheckpoint, readWrites } from "./checkpoint-row.ts";
import {
  prepareCheckpointStatements,
  type CheckpointKey,
  type CheckpointRow,
  type CheckpointStatements,
} from "./checkpoint-statements.ts";

/** Checkpoints of this form have their sends among the writes of their parent, which only `SqliteSaver` reads. */
const FIRST_FORM_WITH_SENDS_INSIDE = 4;

/**
 * `SqliteSaver` on the same tables with four differences: state is read and written synchronously as text; a locked file
 * is waited for without blocking the event loop; errors of SQLite arrive as `LilyError`s that name the file; and an
 * absent `checkpoint_ns` is `""` everywhere. (Upstream drops the writes of a config without one in silence: NULL does
 * not fit the column, and the insert is `OR IGNORE`.)
 */
export class SqliteCheckpointer extends SqliteSaver implements PointSaver, TellsOfDamage {
  readonly #serde: StateSerde;
  readonly #damaged = new DamagedCheckpoints();
  #statements: CheckpointStatements | undefined;

  constructor(db: Database) {
    const serde = new StateSerde();
    super(db, serde);
    this.#serde = serde;
  }

  /** The statements; makes the tables when it is called first. @throws {LilyError} a storage error that names the file */
  open(): CheckpointStatements {
    try {
      this.setup();
      return (this.#statements ??= prepareCheckpointStatements(this.db));
    } catch (error) {
      throw toStorageError(error, this.db.name);
    }
  }

  takeDamaged(threadId: string): number {
    return this.#damaged.takeDamaged(threadId);
  }

  /** The newest that can be read, or the one that was asked for. @throws {LilyError} `record_invalid` when that is damaged */
  override getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    return this.#retry(async () => {
      const [threadId, namespace, id] = keyOf(config);
      const { newest, before, byId } = this.open();
      if (id !== "") return this.#asked([threadId, namespace, id], byId.get(threadId, namespace, id));
      let row = newest.get(threadId, namespace);
      for (; row !== undefined; row = before.get(threadId, namespace, row.rowid)) {
        const tuple = await this.#tupleOf([threadId, namespace, row.checkpoint_id], row);
        if (tuple !== undefined) return tuple;
        this.#damaged.meet(threadId, row.checkpoint_id);
      }
      return undefined;
    });
  }

  /** A checkpoint that was asked for by its id is that one or none. */
  async #asked(key: CheckpointKey, row: CheckpointRow | undefined): Promise<CheckpointTuple | undefined> {
    if (row === undefined) return undefined;
    const tuple = await this.#tupleOf(key, row);
    if (tuple !== undefined) return tuple;
    throw new LilyError("record_invalid", `checkpoint ${key[2]} of thread ${key[0]} is damaged`, {
      next: "Begin at another one. The transcript is not touched; lily doctor names every damaged checkpoint.",
    });
  }

  newestId(config: RunnableConfig): Promise<string | undefined> {
    return this.#retry(() => {
      const [threadId, namespace] = keyOf(config);
      return this.open().newestId.get(threadId, namespace)?.checkpoint_id;
    });
  }

  override async *list(
    config: RunnableConfig,
    options: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    const keys = await this.#retry(() => {
      this.open();
      return listKeys(this.db, config, options);
    });
    let left = options.limit === undefined ? Infinity : Math.max(0, options.limit);
    for (const key of keys) {
      if (left === 0) return;
      const tuple = await this.#retry(() => {
        const row = this.open().byId.get(...key);
        return row === undefined ? undefined : this.#tupleOf(key, row);
      });
      if (tuple === undefined || !hasMetadata(tuple, options.filter)) continue;
      left -= 1;
      yield tuple;
    }
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
  ): Promise<RunnableConfig> {
    const [threadId, namespace] = keyOf(config);
    const columns = this.#columnsOf(config, checkpoint, metadata);
    await this.#retry(() => this.open().put.run(threadId, namespace, ...columns));
    return configOf([threadId, namespace, checkpoint.id]);
  }

  /**
   * In the row of the last of them, whose pages are written again then: a new row and one that goes would be twice as many.
   * Not where that is not the newest any more: what is put last is the newest.
   */
  async putInPlaceOf(
    ids: readonly string[],
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
  ): Promise<void> {
    const [threadId, namespace] = keyOf(config);
    const columns = this.#columnsOf(config, checkpoint, metadata);
    const replace = this.db.transaction(() => {
      const { put, putInPlace } = this.open();
      const last: CheckpointKey = [threadId, namespace, ids.at(-1) ?? ""];
      const { changes } = putInPlace.run(...columns, ...last, threadId, namespace);
      if (changes === 0) put.run(threadId, namespace, ...columns);
      this.#drop(config, ids);
    });
    await this.#retry(() => replace.immediate());
  }

  /** @throws {LilyError} `value_not_json`: what cannot be read again fails before anything of it is stored */
  #columnsOf(config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata): unknown[] {
    const [, , parentId] = keyOf(config);
    const state = this.#serde.dumps(checkpoint);
    return [checkpoint.id, parentId || null, "json", state, metadataText(this.#serde, metadata, state)];
  }

  override async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const key = keyOf(config);
    if (key[2] === "")
      throw new LilyError("internal", "writes were put without the checkpoint that they follow");
    const isSpecial = writes.every(([channel]) => channel in WRITES_IDX_MAP);
    const rows = writes.map(([channel, value], index) => [
      ...key,
      taskId,
      WRITES_IDX_MAP[channel] ?? index,
      channel,
      ...(value instanceof Uint8Array ? ["bytes", value] : ["json", this.#serde.dumps(value)]),
    ]);
    const putAll = this.db.transaction(() => {
      const { putWrite, replaceWrite } = this.open();
      const statement = isSpecial ? replaceWrite : putWrite;
      for (const row of rows) statement.run(...row);
    });
    await this.#retry(() => putAll.immediate());
  }

  async dropCheckpoints(config: RunnableConfig, ids: readonly string[]): Promise<void> {
    const dropAll = this.db.transaction(() => this.#drop(config, ids));
    await this.#retry(() => dropAll.immediate());
  }

  #drop(config: RunnableConfig, ids: readonly string[]): void {
    const [threadId, namespace] = keyOf(config);
    const { drop, dropWrites } = this.open();
    for (const id of ids) {
      dropWrites.run(threadId, namespace, id);
      drop.run(threadId, namespace, id);
    }
  }

  override deleteThread(threadId: string): Promise<void> {
    return this.#retry(() => {
      this.open();
      return super.deleteThread(threadId);
    });
  }

  /** `undefined` when the checkpoint cannot be read. */
  async #tupleOf(key: CheckpointKey, row: CheckpointRow): Promise<CheckpointTuple | undefined> {
    const [threadId, namespace] = key;
    const read = readCheckpoint(this.#serde, row);
    if (read === undefined) return undefined;
    if (read.checkpoint.v < FIRST_FORM_WITH_SENDS_INSIDE) return super.getTuple(configOf(key));
    const parent = row.parent_checkpoint_id;
    return {
      config: configOf(key),
      ...read,
      ...(parent === null ? {} : { parentConfig: configOf([threadId, namespace, parent]) }),
      pendingWrites: readWrites(this.#serde, this.open().writesOf.all(...key)),
    };
  }

  #retry<T>(work: () => T | Promise<T>): Promise<T> {
    return retryBusy(work, { file: this.db.name });
  }
}

/** An absent checkpoint is `""`: the newest to read, no parent to write. */
function keyOf(config: RunnableConfig): CheckpointKey {
  const {
    thread_id: threadId,
    checkpoint_ns: namespace,
    checkpoint_id: id,
  } = withNamespace(config).configurable ?? {};
  if (typeof threadId !== "string" || threadId === "")
    throw new LilyError("session_id_invalid", "a checkpoint was asked for without a thread_id");
  return [threadId, String(namespace), typeof id === "string" ? id : ""];
}

function configOf([threadId, namespace, id]: CheckpointKey): RunnableConfig {
  return { configurable: { thread_id: threadId, checkpoint_ns: namespace, checkpoint_id: id } };
}
