/** Which checkpoints were passed over because they cannot be read: each is told of once. */
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";

/** A checkpointer that tells of them. */
export interface TellsOfDamage {
  /** How many of a thread were met that nobody was told of yet. */
  takeDamaged(threadId: string): number;
}

/** How many damaged checkpoints of a thread were met since it was last asked; none where a checkpointer does not tell. */
export function takeDamaged(saver: BaseCheckpointSaver, threadId: string): number {
  return "takeDamaged" in saver && typeof saver.takeDamaged === "function"
    ? Number(saver.takeDamaged(threadId))
    : 0;
}

/** Remembers what was met in this process. */
export class DamagedCheckpoints implements TellsOfDamage {
  readonly #known = new Set<string>();
  readonly #untold = new Map<string, number>();

  /** A checkpoint that cannot be read was met; that of an earlier time counts once. */
  meet(threadId: string, checkpointId: string): void {
    const name = `${threadId} ${checkpointId}`;
    if (this.#known.has(name)) return;
    this.#known.add(name);
    this.#untold.set(threadId, (this.#untold.get(threadId) ?? 0) + 1);
  }

  takeDamaged(threadId: string): number {
    const count = this.#untold.get(threadId) ?? 0;
    this.#untold.delete(threadId);
    return count;
  }
}
