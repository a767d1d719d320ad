/** A timer that stands still until a test moves it. */
import { setImmediate as nextRound } from "node:timers/promises";
import type { Timer } from "../timer.ts";

/** A {@link Timer} that a test moves. */
export interface ManualTimer extends Timer {
  /** Milliseconds since it was made. */
  now(): number;
  /** Moves on by `ms`, calling what is due in order; what each call sets off goes as far as it can before the next. */
  advance(ms: number): Promise<void>;
  /** What waits to be called. */
  readonly pending: number;
}

interface Entry {
  at: number;
  readonly call: () => void;
  readonly everyMs?: number;
}

/** Makes the timer. */
export function createManualTimer(): ManualTimer {
  let time = 0;
  const entries = new Set<Entry>();
  const add = (entry: Entry): (() => void) => {
    entries.add(entry);
    return () => void entries.delete(entry);
  };
  const due = (until: number): Entry | undefined =>
    [...entries].filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at)[0];
  return {
    now: () => time,
    get pending() {
      return entries.size;
    },
    after: (ms, call) => add({ at: time + ms, call }),
    every: (ms, call) => add({ at: time + ms, call, everyMs: ms }),
    async advance(ms) {
      const until = time + ms;
      await settle();
      for (let entry = due(until); entry !== undefined; entry = due(until)) {
        time = entry.at;
        if (entry.everyMs === undefined) entries.delete(entry);
        else entry.at += entry.everyMs;
        entry.call();
        await settle();
      }
      time = until;
    },
  };
}

/** Lets everything that waits for promises alone go on. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 5; round += 1) await nextRound();
}
