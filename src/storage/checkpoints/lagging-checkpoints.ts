/** Whose newest checkpoint could not be stored, though its turn was: each time it begins is told of once. */
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";

/** A checkpointer that tells of them. */
export interface TellsOfLag {
  /** Why the end of the last run on a thread could not be stored, if nobody was told yet. */
  takeLag(threadId: string): string | undefined;
}

/** Why a thread lags since it was last asked; nothing where a checkpointer does not tell. */
export function takeLag(saver: BaseCheckpointSaver, threadId: string): string | undefined {
  if (!("takeLag" in saver) || typeof saver.takeLag !== "function") return undefined;
  const why: unknown = saver.takeLag(threadId);
  return typeof why === "string" ? why : undefined;
}

/** Remembers them in this process. */
export class LaggingCheckpoints implements TellsOfLag {
  /** Why, or that it was told already. */
  readonly #lagging = new Map<string, { readonly why: string; isTold: boolean }>();

  /** The end of a run could not be stored; the run before it may have lagged already. */
  begin(threadId: string, why: string): void {
    if (!this.#lagging.has(threadId)) this.#lagging.set(threadId, { why, isTold: false });
  }

  /** The newest is stored again. */
  end(threadId: string): void {
    this.#lagging.delete(threadId);
  }

  takeLag(threadId: string): string | undefined {
    const lag = this.#lagging.get(threadId);
    if (lag === undefined || lag.isTold) return undefined;
    lag.isTold = true;
    return lag.why;
  }
}
