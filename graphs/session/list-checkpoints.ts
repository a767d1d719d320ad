/** Lists the stored states of a thread, for `/memory short checkpoints`. */
import type { CheckpointNote } from "#src/commands/command.ts";
import type { CompiledSessionGraph } from "./graph.ts";

/** Makes what reads the newest checkpoints of a thread, newest first. */
export function listCheckpoints(graph: () => CompiledSessionGraph) {
  return async (threadId: string, limit: number): Promise<CheckpointNote[]> => {
    const notes: CheckpointNote[] = [];
    for await (const snapshot of graph().getStateHistory(
      { configurable: { thread_id: threadId } },
      { limit },
    )) {
      const id: unknown = snapshot.config.configurable?.["checkpoint_id"];
      notes.push({
        id: typeof id === "string" ? id : "",
        at: snapshot.createdAt ?? "",
        step: snapshot.metadata?.step ?? 0,
        next: [...snapshot.next].map(String),
        turns: snapshot.values.session?.turns ?? 0,
        messages: snapshot.values.messages?.length ?? 0,
      });
    }
    return notes;
  };
}
