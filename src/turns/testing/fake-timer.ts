/** Timers that stand still until a test moves them: vitest's, with what tests of waiting ask of them. */
import { setImmediate as nextRound } from "node:timers/promises";
import { vi } from "vitest";

/** Timers that a test moves. */
export interface FakeTimer {
  /** Milliseconds since it was made. */
  now(): number;
  /** Moves on by `ms`; what each timer sets off goes as far as it can before the next. */
  advance(ms: number): Promise<void>;
  /** Timers that wait. */
  readonly pending: number;
}

/** Makes all timers of the process stand still, until `vi.useRealTimers()`. */
export function createFakeTimer(): FakeTimer {
  if (!vi.isFakeTimers())
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
  let now = 0;
  return {
    now: () => now,
    get pending() {
      return vi.getTimerCount();
    },
    async advance(ms) {
      await settle();
      for (let passed = 0; passed < ms;) {
        const step = Math.min(STEP_MS, ms - passed);
        await vi.advanceTimersByTimeAsync(step);
        passed += step;
        now += step;
        await settle();
      }
    },
  };
}

/** What waits for the store goes on in between. */
const STEP_MS = 50;

/** Lets everything that waits for promises alone go on. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 5; round += 1) await nextRound();
}
