/** When old checkpoints are removed: beside the turns, now and then, and at once when a session was sealed. */
import type { CheckpointRetention } from "./backend.ts";

/** Pruning that no turn waits for. */
export interface PruneBesideTurns {
  /** Called after a turn on a session; `isSealed` when the turn ended the session, of which the last checkpoint is kept. */
  afterTurn(sessionId: string, isSealed: boolean): void;
  /** Resolves when nothing is being pruned. */
  settled(): Promise<void>;
}

/** Turns of a session from one pruning to the next: this many checkpoints may lie there beyond those to keep. */
const TURNS_BETWEEN = 4;

/** Sessions whose turns are counted; one that is forgotten is pruned with its next turn. */
const MAX_COUNTED = 1_000;

/** Makes it. A failure is told to `onError`; the next pruning does what was left undone. */
export function pruneBesideTurns(
  retention: CheckpointRetention,
  { keepTurns, onError }: { readonly keepTurns: number; readonly onError: (error: unknown) => void },
): PruneBesideTurns {
  const turns = new Map<string, number>();
  const jobs = new Set<Promise<unknown>>();
  const prune = (sessionId: string, keep: number): void => {
    const job = retention.prune(sessionId, keep).catch(onError);
    jobs.add(job);
    void job.finally(() => jobs.delete(job));
  };
  return {
    afterTurn(sessionId, isSealed) {
      if (isSealed) {
        turns.delete(sessionId);
        return prune(sessionId, 1);
      }
      // The first turn counts: a program that runs for one message prunes too.
      const seen = turns.get(sessionId) ?? 0;
      if (turns.size > MAX_COUNTED) turns.clear();
      turns.set(sessionId, seen + 1);
      if (seen % TURNS_BETWEEN === 0) prune(sessionId, keepTurns);
    },
    async settled() {
      while (jobs.size > 0) await Promise.all(jobs);
    },
  };
}
