/** Waiting as a value that is passed in. */

/** Waits `ms` milliseconds; rejects with the reason of `signal` as soon as it is aborted. */
export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

/** Waits by the system's timer. That of `node:timers/promises` makes an error with a stack of each wait that is ended. */
export const sleepByTimer: Sleep = (ms, signal) =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const end = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", end);
      resolve();
    }, ms);
    signal?.addEventListener("abort", end, { once: true });
  });
