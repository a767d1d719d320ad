/** Reads where a thread stands from its newest checkpoint: a program that shows a prompt needs no graph for that yet. */
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import { INTERRUPT } from "@langchain/langgraph";
import type { SessionStateValues } from "./state.ts";

/** What is stored of a thread. */
export interface ThreadState {
  /** Channels that were never written are absent. */
  readonly values: Partial<SessionStateValues>;
  /** A tool waits for a person. */
  readonly isWaiting: boolean;
}

/** The state of a thread; empty where nothing is stored of it. */
export async function readThread(saver: BaseCheckpointSaver, threadId: string): Promise<ThreadState> {
  const tuple = await saver.getTuple({ configurable: { thread_id: threadId } });
  return {
    // LangGraph does not say what the values of a checkpoint are.
    values: tuple?.checkpoint.channel_values ?? {},
    isWaiting: (tuple?.pendingWrites ?? []).some(([_task, channel]) => channel === INTERRUPT),
  };
}
