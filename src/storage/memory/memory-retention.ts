/** Prunes LangGraph's `MemorySaver` by the same rule as the database: what is older than the runs to keep goes. */
import type { MemorySaver } from "@langchain/langgraph-checkpoint";
import type { CheckpointRetention } from "../backend.ts";
import { belongsToOneRun } from "../checkpoints/checkpoint-namespace.ts";

/** Makes the retention of `saver`. */
export function createMemoryRetention(saver: MemorySaver): CheckpointRetention {
  return {
    async prune(threadId, keepTurns) {
      const oldest = (await inputCheckpoints(saver, threadId)).at(Math.max(1, keepTurns) - 1);
      if (oldest === undefined) return { deletedCheckpoints: 0 };
      return { deletedCheckpoints: deleteBefore(saver, threadId, oldest) };
    },
  };
}

/** Ids of the checkpoints with which runs began, newest first. */
async function inputCheckpoints(saver: MemorySaver, threadId: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const { checkpoint, metadata } of saver.list({
    configurable: { thread_id: threadId, checkpoint_ns: "" },
  })) {
    if (metadata?.source === "input") ids.push(checkpoint.id);
  }
  return ids;
}

function deleteBefore(saver: MemorySaver, threadId: string, oldest: string): number {
  let deleted = 0;
  for (const [namespace, checkpoints] of Object.entries(saver.storage[threadId] ?? {})) {
    const newest = Object.keys(checkpoints).sort().at(-1) ?? "";
    for (const id of Object.keys(checkpoints)) {
      if (id >= oldest || (id === newest && !belongsToOneRun(namespace))) continue;
      delete checkpoints[id];
      // The key under which MemorySaver keeps the writes of a checkpoint.
      delete saver.writes[JSON.stringify([threadId, namespace, id])];
      deleted += 1;
    }
    if (Object.keys(checkpoints).length === 0) delete saver.storage[threadId]?.[namespace];
  }
  return deleted;
}
