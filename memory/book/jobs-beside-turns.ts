/** When the lifecycle job runs: beside the turns, once a day an owner, one owner at a time. */
import type { Clock } from "#src/kernel/clock.ts";

/** The job, which no turn waits for. */
export interface JobsBesideTurns {
  /** Called after a turn of an owner; most of the time it does nothing. */
  afterTurn(owner: string): void;
  /** Resolves when the job does not run. */
  settled(): Promise<void>;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** Owners whose last time is known; beyond them all are forgotten, and each has its turn again. */
const MAX_OWNERS = 1_000;

/**
 * Makes it. A failure is told to `onError`, and an hour later the job is tried again.
 *
 * @param run marks the records of an owner
 */
export function jobsBesideTurns(
  run: (owner: string) => Promise<unknown>,
  { clock, onError }: { readonly clock: Clock; readonly onError: (error: unknown) => void },
): JobsBesideTurns {
  const nextAt = new Map<string, number>();
  let last: Promise<void> = Promise.resolve();
  const mark = async (owner: string): Promise<void> => {
    try {
      await run(owner);
    } catch (error) {
      nextAt.set(owner, clock.monotonic() + HOUR_MS);
      onError(error);
    }
  };
  return {
    afterTurn(owner) {
      // Days of the process, not of the wall clock, which may jump.
      const now = clock.monotonic();
      if (now < (nextAt.get(owner) ?? now)) return;
      if (nextAt.size >= MAX_OWNERS) nextAt.clear();
      nextAt.set(owner, now + DAY_MS);
      last = last.then(() => mark(owner));
    },
    settled: () => last,
  };
}
