/** Time and waiting as values that are passed in: nothing below `src/app` reads the system clock itself. */

/** Wall-clock and monotonic time. */
export interface Clock {
  /** Wall-clock instant in milliseconds since the Unix epoch. May jump in either direction. */
  now(): number;
  /** Milliseconds from an arbitrary origin; never goes backwards. For measuring durations only. */
  monotonic(): number;
}

/** A clock that stands still until it is told to move. */
export interface ManualClock extends Clock {
  /** Moves wall and monotonic time forward by `ms` (milliseconds, not negative). */
  advance(ms: number): void;
  /** Sets the wall clock alone, as an administrator or NTP would. Monotonic time is not touched. */
  set(epochMs: number): void;
}

/** Makes a manual clock that starts at `epochMs`. */
export function createManualClock(epochMs: number): ManualClock {
  let wall = epochMs;
  let steady = 0;
  return {
    now: () => wall,
    monotonic: () => steady,
    advance(ms) {
      wall += ms;
      steady += ms;
    },
    set(next) {
      wall = next;
    },
  };
}

/** ISO 8601 text in UTC with milliseconds, the form in which every instant is stored. */
export function toInstant(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/** Milliseconds since the epoch for a stored instant; `NaN` when the text is not one. */
export function fromInstant(instant: string): number {
  return Date.parse(instant);
}

/** Waits `ms` milliseconds; rejects with the reason of `signal` as soon as it is aborted. */
export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

export interface OrAbortedOptions {
  readonly signal: AbortSignal;
  /**
   * Waits as long as aborted work may still take to end by itself; without it none. Its signal is aborted when the work
   * has ended.
   */
  readonly grace?: (ended: AbortSignal) => Promise<void>;
}

/**
 * The outcome of `work`, or the reason of `signal` once that is aborted; a reason that is no error becomes an
 * `AbortError`. Work that goes on all the same is left behind: its late outcome goes nowhere.
 */
export async function orAborted<T>(work: Promise<T>, { signal, grace }: OrAbortedOptions): Promise<T> {
  // The race may be over; what comes of the work later is nobody's concern.
  work.catch(() => undefined);
  const ended = new AbortController();
  let abort: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    const end = (): void =>
      reject(signal.reason instanceof Error ? signal.reason : new DOMException("stopped", "AbortError"));
    // A wait that fails is over as well.
    abort = () => (grace === undefined ? end() : void grace(ended.signal).then(end, end));
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
    ended.abort();
  }
}
