/** Waiting as a value that is passed in. */
import { setTimeout as timerSleep } from "node:timers/promises";

/** Waits `ms` milliseconds; rejects with an `AbortError` as soon as `signal` is aborted. */
export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

/** Waits by the system's timer. */
export const sleepByTimer: Sleep = async (ms, signal) => {
  await timerSleep(ms, undefined, signal === undefined ? {} : { signal });
};
