/** Keeps the steps of a run in memory and gives the checkpointer behind it only the points that have to survive. */
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  WRITES_IDX_MAP,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type PendingWrite,
} from "@langchain/langgraph-checkpoint";
import { isLilyError, type LilyError } from "#src/kernel/errors.ts";
import { keepNewest } from "#src/kernel/keep-newest.ts";
import { takeDamaged, type TellsOfDamage } from "./damaged-checkpoints.ts";
import { LaggingCheckpoints, type TellsOfLag } from "./lagging-checkpoints.ts";
import {
  begunOf,
  copyOf,
  isAtRest,
  isGiven,
  isStep,
  lastPointBefore,
  parentIn,
  passedBy,
  placeOf,
  storedParentOf,
  threadIn,
  tupleOfEnd,
  withCheckpoint,
  type Newest,
} from "./run-points.ts";

/** What is behind a {@link BufferedSaver}. */
export interface PointSaver extends BaseCheckpointSaver {
  /** Deletes single checkpoints of the thread and namespace in `config`, with what was written after them. */
  dropCheckpoints(config: RunnableConfig, ids: readonly string[]): Promise<void>;
  /**
   * Puts a checkpoint, as the newest, in the place of others, and drops what was written after them: all at once. Absent where
   * that is no less work.
   */
  putInPlaceOf?(
    ids: readonly string[],
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
  ): Promise<void>;
  /** Id of the newest checkpoint; absent where it costs as much as the checkpoint. */
  newestId?(config: RunnableConfig): Promise<string | undefined>;
}

/** Threads that are remembered although their newest point is stored already. */
const MAX_THREADS = 256;

/**
 * A run of LangGraph makes a checkpoint a step, and each holds the whole state. What has to survive a killed process is
 * less: where a run ended, where it waits for a person or failed, and what `persist` is asked for before something that
 * must not be done twice. The steps between stay in memory: this process goes on from them; another one, or this one
 * after a crash, goes on from the last point. Of a run that has ended its end is kept and no point before it; a stored
 * checkpoint names the one stored before it as its parent.
 */
export class BufferedSaver extends BaseCheckpointSaver implements TellsOfDamage, TellsOfLag {
  readonly #inner: PointSaver;
  readonly #newest = new Map<string, Newest>();
  /** The ends of runs, as they were stored last: who goes on from one of them in this process reads only its id. */
  readonly #ends = new Map<string, Newest>();
  readonly #lags = new LaggingCheckpoints();

  constructor(inner: PointSaver) {
    super(inner.serde);
    this.#inner = inner;
  }

  /** Stores what runs have reached on a thread, or what those on all threads have begun, so that a crash cannot take it back. */
  async persist(threadId?: string): Promise<void> {
    for (const newest of this.#newest.values()) {
      const begun = begunOf(newest);
      if (newest.config.configurable?.["thread_id"] === threadId) await this.#store(newest);
      else if (threadId === undefined && begun !== undefined && (await this.#isStillNewest(begun)))
        await this.#store(begun);
    }
  }

  /** Nobody has gone on from where its run began, nor erased that: what was erased must not come back when this ends. */
  async #isStillNewest(newest: Newest): Promise<boolean> {
    const thread = withCheckpoint(newest.config, undefined);
    const stored = this.#inner.newestId
      ? await this.#inner.newestId(thread)
      : (await this.#inner.getTuple(thread))?.checkpoint.id;
    return newest.isStored ? stored === newest.checkpoint.id : stored === lastPointBefore(newest);
  }

  takeDamaged(threadId: string): number {
    return takeDamaged(this.#inner, threadId);
  }

  takeLag(threadId: string): string | undefined {
    return this.#lags.takeLag(threadId);
  }

  override getNextVersion(current: number | undefined): number {
    return this.#inner.getNextVersion(current);
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const newest = this.#newest.get(placeOf(config));
    const wanted: unknown = config.configurable?.["checkpoint_id"];
    const unstored = newest?.isStored === false ? newest : undefined;
    if (unstored !== undefined && wanted === unstored.checkpoint.id) return this.#tupleOf(unstored);
    // Nobody goes on from a message that a run was given and died with.
    const held = unstored && begunOf(unstored);
    const end = wanted === undefined && held === undefined ? await this.#endOf(config) : undefined;
    if (end !== undefined) return tupleOfEnd(end);
    const stored = await this.#inner.getTuple(config);
    if (held === undefined || wanted !== undefined) return stored;
    // Not by id: ids go by a clock, which may be set back. Another process has gone on when the point is another one.
    return stored?.checkpoint.id === lastPointBefore(held) ? this.#tupleOf(held) : stored;
  }

  /** The end of the last run, as long as it is the newest that is stored. */
  async #endOf(config: RunnableConfig): Promise<Newest | undefined> {
    const end = this.#ends.get(placeOf(config));
    if (end === undefined) return undefined;
    return (await this.#inner.newestId?.(config)) === end.checkpoint.id ? end : undefined;
  }

  override list(config: RunnableConfig, options?: CheckpointListOptions): AsyncGenerator<CheckpointTuple> {
    return this.#inner.list(config, options);
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const place = placeOf(config);
    const held = this.#newest.get(place);
    const before = [held, held?.behind].find((point) => point && point.checkpoint.id === parentIn(config));
    const goesOn = before !== undefined;
    const hasBegun = metadata.source !== "input" && !(goesOn && isGiven(before.checkpoint));
    const newest: Newest = {
      // Not what else is in it: a run leaves there all that it works with, which would live as long as its end is remembered.
      config: withCheckpoint(config, parentIn(config)),
      checkpoint,
      metadata,
      newVersions: goesOn && !before.isStored ? { ...before.newVersions, ...newVersions } : newVersions,
      base: goesOn ? before.base : parentIn(config),
      passed: goesOn ? passedBy(before) : [],
      writes: [],
      hasBegun,
      behind: hasBegun || !goesOn || before.isStored ? undefined : begunOf(before),
      isStored: false,
      hasSpecial: false,
    };
    const atRest = isAtRest(checkpoint);
    this.#remember(place, newest);
    if (atRest && isStep(metadata)) await this.#storeEnd(place, newest);
    else if (!isStep(metadata)) await this.#store(newest);
    return withCheckpoint(config, checkpoint.id);
  }

  /**
   * What the run came to was committed before its last checkpoint, which may lag behind: a full disk or a lock must not
   * make a turn a failure that it is not. The end stays in memory then, and is stored with what comes next.
   */
  async #storeEnd(place: string, newest: Newest): Promise<void> {
    try {
      await this.#store(newest);
      if (this.#newest.get(place) === newest) this.#newest.delete(place);
      if (this.#inner.newestId !== undefined) this.#rememberEnd(place, newest);
      if (newest.passed.length > 0) await this.#inner.dropCheckpoints(newest.config, newest.passed);
    } catch (error) {
      if (!isStorageError(error)) throw error;
      // Points that could not be removed are left to the retention.
      if (!newest.isStored) this.#lags.begin(threadIn(newest.config), error.message);
    }
  }

  override async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
    taskPath?: string,
  ): Promise<void> {
    const place = placeOf(config);
    const newest = this.#newest.get(place);
    const isNewest = newest?.checkpoint.id === config.configurable?.["checkpoint_id"];
    if (newest === undefined || !isNewest) {
      // What is written after an end is read with it.
      this.#ends.delete(place);
      return this.#inner.putWrites(config, writes, taskId, taskPath);
    }
    // Plain writes are replaced by the checkpoint that follows them, unless a task beside this one waits or fails.
    newest.writes.push({ taskId, taskPath, writes });
    newest.hasSpecial ||= writes.some(([channel]) => channel in WRITES_IDX_MAP);
    if (newest.hasSpecial) await this.#store(newest);
  }

  override async deleteThread(threadId: string): Promise<void> {
    for (const held of [this.#newest, this.#ends]) {
      for (const [place, { config }] of held) {
        if (config.configurable?.["thread_id"] === threadId) held.delete(place);
      }
    }
    await this.#inner.deleteThread(threadId);
  }

  async #store(newest: Newest): Promise<void> {
    const { config, checkpoint } = newest;
    if (!newest.isStored) {
      await this.#put(newest);
      newest.isStored = true;
      this.#lags.end(threadIn(config));
    }
    const target = withCheckpoint(config, checkpoint.id);
    for (let written = newest.writes[0]; written !== undefined; written = newest.writes[0]) {
      await this.#inner.putWrites(target, written.writes, written.taskId, written.taskPath);
      newest.writes.shift();
    }
  }

  /** The points that the run has passed are of use no more; what somebody has changed by hand may be looked back from. */
  async #put(newest: Newest): Promise<void> {
    const { config, checkpoint, metadata, newVersions, passed, base } = newest;
    if (passed.length === 0 || !isStep(metadata) || this.#inner.putInPlaceOf === undefined) {
      const after = withCheckpoint(config, storedParentOf(newest));
      await this.#inner.put(after, checkpoint, metadata, newVersions);
      return;
    }
    await this.#inner.putInPlaceOf(passed, withCheckpoint(config, base), checkpoint, metadata);
    newest.passed = [];
  }

  #rememberEnd(place: string, end: Newest): void {
    // The caller of the run has the lists that are in it.
    keepNewest(this.#ends, [place, { ...end, checkpoint: copyOf(end.checkpoint) }], MAX_THREADS);
  }

  /** What is not stored is of a run that goes on, or of one that stopped in the middle: neither may be forgotten. */
  #remember(place: string, newest: Newest): void {
    this.#newest.delete(place);
    this.#newest.set(place, newest);
    if (this.#newest.size <= MAX_THREADS) return;
    for (const [other, { isStored, writes }] of this.#newest) {
      if (other === place || !isStored || writes.length > 0) continue;
      this.#newest.delete(other);
      if (this.#newest.size <= MAX_THREADS) return;
    }
  }

  /** As it would come back from the checkpointer: nothing in it is shared with the run that made it. */
  async #tupleOf(newest: Newest): Promise<CheckpointTuple> {
    const { config, checkpoint, metadata, writes } = newest;
    const parent = storedParentOf(newest);
    const [type, data] = await this.serde.dumpsTyped({ checkpoint, metadata, writes });
    const copy = (await this.serde.loadsTyped(type, data)) as Pick<
      Newest,
      "checkpoint" | "metadata" | "writes"
    >;
    return {
      config: withCheckpoint(config, checkpoint.id),
      checkpoint: copy.checkpoint,
      metadata: copy.metadata,
      ...(parent === undefined ? {} : { parentConfig: withCheckpoint(config, parent) }),
      pendingWrites: copy.writes.flatMap(({ taskId, writes }) =>
        writes.map(([channel, value]) => [taskId, channel, value] as [string, string, unknown]),
      ),
    };
  }
}

function isStorageError(error: unknown): error is LilyError {
  return isLilyError(error) && error.code.startsWith("storage_");
}
