/** The smallest graph with a state worth checkpointing, for the contract of storage backends. */
import { Annotation, StateGraph } from "@langchain/langgraph";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";

const CountState = Annotation.Root({
  total: Annotation<number>({ reducer: (total, added) => total + added, default: () => 0 }),
});

/** A graph that adds what it is given, and 1, to the total of a thread. */
export interface CountingGraph {
  /** Runs once. @returns the state after the run */
  run(threadId: string, added: number): Promise<unknown>;
  /** The state that a thread was left in; `{}` when it never ran. */
  stateOf(threadId: string): Promise<unknown>;
}

/** Makes the graph over `checkpointer`. */
export function countingGraph(checkpointer: BaseCheckpointSaver): CountingGraph {
  const graph = new StateGraph(CountState)
    .addNode("addOne", () => ({ total: 1 }))
    .addEdge("__start__", "addOne")
    .addEdge("addOne", "__end__")
    .compile({ checkpointer });
  const configOf = (threadId: string): { configurable: { thread_id: string } } => ({
    configurable: { thread_id: threadId },
  });
  return {
    run: (threadId, added) => graph.invoke({ total: added }, configOf(threadId)),
    stateOf: async (threadId) => (await graph.getState(configOf(threadId))).values as unknown,
  };
}

/** Id and source of each checkpoint of a thread, newest first. */
export async function checkpointSourcesOf(
  checkpointer: BaseCheckpointSaver,
  threadId: string,
): Promise<string[]> {
  const found: string[] = [];
  for await (const { checkpoint, metadata } of checkpointer.list({ configurable: { thread_id: threadId } })) {
    found.push(`${checkpoint.id} ${metadata?.source ?? "?"}`);
  }
  return found;
}
