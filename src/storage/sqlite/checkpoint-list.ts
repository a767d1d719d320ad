/** Which checkpoints a list holds, by their keys: their states are read one at a time, when they are asked for. */
import type { RunnableConfig } from "@langchain/core/runnables";
import type { CheckpointListOptions, CheckpointTuple } from "@langchain/langgraph-checkpoint";
import type { Database } from "better-sqlite3";
import type { CheckpointKey } from "./checkpoint-statements.ts";

interface KeyRow {
  readonly thread_id: string;
  readonly checkpoint_ns: string;
  readonly checkpoint_id: string;
}

// In the order in which they were put: ids go by a clock, which may be set back. One that is gone cuts off by its id.
const PUT_BEFORE = `rowid < coalesce(
  (SELECT min(b.rowid) FROM checkpoints AS b WHERE b.checkpoint_id = @before
    AND (@threadId IS NULL OR b.thread_id = @threadId)),
  (SELECT max(o.rowid) + 1 FROM checkpoints AS o WHERE o.checkpoint_id < @before
    AND (@threadId IS NULL OR o.thread_id = @threadId)), 0)`;

const LIST = `SELECT thread_id, checkpoint_ns, checkpoint_id FROM checkpoints
  WHERE (@threadId IS NULL OR thread_id = @threadId) AND (@namespace IS NULL OR checkpoint_ns = @namespace)
    AND (@before IS NULL OR ${PUT_BEFORE})
  ORDER BY rowid DESC`;

/** The keys of the checkpoints that `config` and `before` name, newest first. */
export function listKeys(
  db: Database,
  { configurable = {} }: RunnableConfig,
  { before }: CheckpointListOptions,
): CheckpointKey[] {
  return db
    .prepare<Record<string, string | null>, KeyRow>(LIST)
    .all({
      threadId: textOrNull(configurable["thread_id"]),
      // The root namespace is "".
      namespace: textOrNull(configurable["checkpoint_ns"]),
      before: textOrNull(before?.configurable?.["checkpoint_id"]),
    })
    .map((row) => [row.thread_id, row.checkpoint_ns, row.checkpoint_id]);
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** Whether the metadata of a checkpoint has every field of the filter. */
export function hasMetadata({ metadata }: CheckpointTuple, filter: CheckpointListOptions["filter"]): boolean {
  const known = new Map<string, unknown>(Object.entries(metadata ?? {}));
  return Object.entries(filter ?? {}).every(
    ([name, wanted]) => wanted === undefined || JSON.stringify(known.get(name)) === JSON.stringify(wanted),
  );
}
