/** Time as a value that is passed in: nothing below `src/app` reads the system clock itself. */

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
