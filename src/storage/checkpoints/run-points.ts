/** The points of a run: what is remembered of the newest one, and what a checkpoint says of where its run stands. */
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  TASKS,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointTuple,
  type PendingWrite,
} from "@langchain/langgraph-checkpoint";
import { withNamespace } from "./checkpoint-calls.ts";

/** The newest checkpoint of a thread, and what its tasks have written since. */
export interface Newest {
  readonly config: RunnableConfig;
  readonly checkpoint: Checkpoint;
  readonly metadata: CheckpointMetadata;
  /** Versions of the channels that changed since the checkpoint that was stored last: savers may store only these. */
  readonly newVersions: ChannelVersions;
  /** The stored checkpoint from which its run began. */
  readonly base: string | undefined;
  /** Stored points of its run, oldest first; nobody needs them once the run has ended. */
  passed: readonly string[];
  readonly writes: TaskWrites[];
  /** A node has run. Before that the run was only given its message, which is in its sender's hands. */
  readonly hasBegun: boolean;
  /** Of a run that has not begun: what it goes on from, where that is not stored either. */
  readonly behind: Newest | undefined;
  isStored: boolean;
  /** A task waits for a person, or failed: what the others have done is needed when the step is run again. */
  hasSpecial: boolean;
}

export interface TaskWrites {
  readonly taskId: string;
  readonly taskPath: string | undefined;
  readonly writes: PendingWrite[];
}

/** Lists and versions of its own. What stands in the lists is shared: runs replace it, and never change it. */
export function copyOf(checkpoint: Checkpoint): Checkpoint {
  const values = Object.entries(checkpoint.channel_values);
  return {
    ...checkpoint,
    channel_values: Object.fromEntries(
      values.map(([channel, value]): [string, unknown] => [
        channel,
        Array.isArray(value) ? [...value] : value,
      ]),
    ),
    channel_versions: { ...checkpoint.channel_versions },
    versions_seen: Object.fromEntries(
      Object.entries(checkpoint.versions_seen).map(([node, seen]) => [node, { ...seen }]),
    ),
  };
}

export function tupleOfEnd(end: Newest): CheckpointTuple {
  const { config, metadata, checkpoint } = end;
  const parent = storedParentOf(end);
  return {
    config: withCheckpoint(config, checkpoint.id),
    checkpoint: copyOf(checkpoint),
    metadata,
    ...(parent === undefined ? {} : { parentConfig: withCheckpoint(config, parent) }),
    pendingWrites: [],
  };
}

/** Names the thread and the namespace. */
export function placeOf(config: RunnableConfig): string {
  const { thread_id: threadId, checkpoint_ns: namespace } = withNamespace(config).configurable ?? {};
  return JSON.stringify([threadId, namespace]);
}

export function withCheckpoint(config: RunnableConfig, id: string | undefined): RunnableConfig {
  const { thread_id: threadId, checkpoint_ns: namespace } = withNamespace(config).configurable ?? {};
  return {
    configurable: {
      thread_id: threadId,
      checkpoint_ns: namespace,
      ...(id === undefined ? {} : { checkpoint_id: id }),
    },
  };
}

export function parentIn(config: RunnableConfig): string | undefined {
  const parent: unknown = config.configurable?.["checkpoint_id"];
  return typeof parent === "string" ? parent : undefined;
}

export const threadIn = (config: RunnableConfig): string => String(config.configurable?.["thread_id"]);

/** Steps of a run, as against changes that somebody makes to the state. */
export const isStep = ({ source }: CheckpointMetadata): boolean => source === "loop" || source === "input";

/** The point that is the newest stored one as long as nobody else goes on. */
export const lastPointBefore = ({ passed, base }: Newest): string | undefined => passed.at(-1) ?? base;

/** The end of a run follows what the run began from: the points between go. */
export function storedParentOf(newest: Newest): string | undefined {
  return isAtRest(newest.checkpoint) ? newest.base : lastPointBefore(newest);
}

/** Points of the run up to and with `before`. */
export const passedBy = ({ passed, isStored, checkpoint, metadata }: Newest): readonly string[] =>
  isStored && isStep(metadata) ? [...passed, checkpoint.id] : passed;

/** The newest point at which something was done: of a run that has not begun, what it goes on from, if that is not stored. */
export const begunOf = (point: Newest): Newest | undefined => (point.hasBegun ? point : point.behind);

/** Whether what a run was given still waits for LangGraph's first step, which hands it on. */
export const isGiven = ({ channel_values: values }: Checkpoint): boolean => "__start__" in values;

/** Whether no step is left to run: LangGraph names the next steps by channels, and sends by one of their own. */
export function isAtRest({ channel_values: values }: Checkpoint): boolean {
  const sends: unknown = values[TASKS];
  const hasSends = Array.isArray(sends) && sends.length > 0;
  return (
    !hasSends &&
    !Object.keys(values).some((channel) => channel.startsWith("branch:to:") || channel === "__start__")
  );
}
