/** What a process does beside its turns: old checkpoints go, missing vectors are made, memory is tidied once a day. */
import { applyLifecycle } from "#memory/facts/retention.ts";
import type { StorageBackend } from "#src/storage/backend.ts";
import type { SessionDeps } from "./session-deps.ts";

/** Upkeep that no turn waits for. */
export interface BesideTurns {
  /** Called after a turn on a session; `isSealed` when the turn ended it: its newest checkpoint alone is kept. */
  afterTurn(sessionId: string, isSealed: boolean): void;
  /** Called when an owner was answered. */
  afterReply(owner: string): void;
  /** Resolves when nothing is being done. */
  settled(): Promise<void>;
}

export interface BesideOptions {
  /** Turns of an active session whose checkpoints are kept. */
  readonly keepTurns: number;
  /** Told of what has failed; it is tried again with a later turn. */
  readonly onError: (error: unknown) => void;
}

/** Vectors in one go, so that a long list does not hold the end of the program up. */
const VECTORS_AT_ONCE = 50;

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** Owners whose last time is known; beyond them all are forgotten, and each has its turn again. */
const MAX_OWNERS = 1_000;

export function createBesideTurns(
  deps: Pick<SessionDeps, "clock" | "ids" | "memory">,
  { checkpointer, fillVectors, store }: Pick<StorageBackend, "checkpointer" | "fillVectors" | "store">,
  { keepTurns, onError }: BesideOptions,
): BesideTurns {
  const jobs = new Map<string, Promise<void>>();
  /** Begins `job`, unless one of the same name has not ended yet. */
  const begin = (name: string, job: () => Promise<void>): void => {
    if (!jobs.has(name))
      jobs.set(
        name,
        job()
          .catch(onError)
          .finally(() => jobs.delete(name)),
      );
  };
  const tidyAt = new Map<string, number>();
  return {
    afterTurn(sessionId, isSealed) {
      const keep = isSealed ? 1 : keepTurns;
      begin(`prune ${sessionId} to ${keep}`, async () => void (await checkpointer.retain(sessionId, keep)));
      if (fillVectors === undefined) return;
      begin("vectors", async () => {
        while (await fillVectors(VECTORS_AT_ONCE));
      });
    },
    afterReply(owner) {
      if (!deps.memory.enabled) return;
      // Days of the process, not of the wall clock, which may jump.
      const now = deps.clock.monotonic();
      if (now < (tidyAt.get(owner) ?? now)) return;
      if (tidyAt.size >= MAX_OWNERS) tidyAt.clear();
      // Until it has succeeded it is due again in an hour.
      tidyAt.set(owner, now + HOUR_MS);
      begin(`tidy ${owner}`, async () => {
        const { clock, ids } = deps;
        // No text comes in with a mark, so there is nothing to scan.
        await applyLifecycle({ store, clock, ids, scan: async () => [] }, { owner });
        tidyAt.set(owner, now + DAY_MS);
      });
    },
    async settled() {
      while (jobs.size > 0) await Promise.all(jobs.values());
    },
  };
}
