/** Clocks, instants, local times, the ends of local days, and waiting: nothing below `src/app` reads the system clock itself. */
import { Temporal } from "temporal-polyfill";

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

/** A time of day such as `04:00`, and the IANA zone in which it is read. */
export interface DayBoundaryRule {
  /** Local wall time, `HH:MM`. */
  readonly at: string;
  /** IANA time zone name, e.g. `Europe/Paris`. */
  readonly timeZone: string;
}

/**
 * The first boundary strictly after `epochMs` (milliseconds since the epoch).
 *
 * A date whose boundary time is repeated has it once, at the earlier instant; a date whose boundary time is missing
 * has it at the end of the gap.
 *
 * @throws {RangeError} when the zone or the time is not valid.
 */
export function nextBoundaryAfter(epochMs: number, rule: DayBoundaryRule): number {
  const time = Temporal.PlainTime.from(rule.at);
  const local = Temporal.Instant.fromEpochMilliseconds(epochMs)
    .toZonedDateTimeISO(rule.timeZone)
    .toPlainDate();
  // From the day before, because a gap can carry a boundary past midnight; and some days ahead, because a zone that
  // moves across the date line skips a date.
  for (let offset = -1; offset <= 3; offset += 1) {
    const boundary = boundaryOf(local.add({ days: offset }), time, rule.timeZone);
    if (boundary !== undefined && boundary > epochMs) return boundary;
  }
  throw new RangeError(`no day boundary within three days of ${epochMs} in ${rule.timeZone}`);
}

/** The boundary of one local date; `undefined` for a date that the zone skipped as a whole. */
function boundaryOf(
  date: Temporal.PlainDate,
  time: Temporal.PlainTime,
  timeZone: string,
): number | undefined {
  if (!date.toZonedDateTime(timeZone).toPlainDate().equals(date)) return undefined;
  const wanted = date.toPlainDateTime(time);
  // Of two it takes the earlier; in a gap, the same distance before it, from where the gap is the next change.
  const found = wanted.toZonedDateTime(timeZone, { disambiguation: "earlier" });
  if (found.toPlainDateTime().equals(wanted)) return found.epochMilliseconds;
  return found.getTimeZoneTransition("next")?.epochMilliseconds ?? found.epochMilliseconds;
}

/** Whether `name` is a time zone that this machine knows. */
export function isTimeZone(name: string): boolean {
  // Every machine knows it; being asked for another one, it loads its tables.
  if (name === "UTC") return true;
  if (!/^[A-Za-z][\w+\-/]*$/u.test(name)) return false;
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name);
    return true;
  } catch {
    return false;
  }
}

/** {@link localMinute} of a stored instant. */
export function localTime(instant: string, timeZone: string): string {
  return localMinute(fromInstant(instant), timeZone);
}

const days = new Map<string, Intl.DateTimeFormat>();

/** The date of a stored instant in a zone, e.g. `2026-05-01`. A prompt tells many: Temporal takes a hundred times as long. */
export function localDay(instant: string, timeZone: string): string {
  if (timeZone === "UTC") return instant.slice(0, 10);
  // Swedish dates are those of ISO 8601.
  const format =
    days.get(timeZone) ??
    new Intl.DateTimeFormat("sv-SE", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" });
  days.set(timeZone, format);
  return format.format(fromInstant(instant));
}

/** The local date and minute of an instant, e.g. `2026-05-01 21:40`. */
export function localMinute(epochMs: number, timeZone: string): string {
  const local = Temporal.Instant.fromEpochMilliseconds(epochMs).toZonedDateTimeISO(timeZone);
  return local.toPlainDateTime().toString({ smallestUnit: "minute" }).replace("T", " ");
}

/** Waits `ms` milliseconds; rejects with the reason of `signal` as soon as it is aborted. */
export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

/** `AbortSignal.timeout`, to be given to `AbortSignal.any`. */
export function timeLimit(ms: number): AbortSignal {
  const limit = AbortSignal.timeout(ms);
  // Node 20 collects one that `AbortSignal.any` alone holds and nobody listens to; then it never aborts.
  limit.addEventListener("abort", () => undefined, { once: true });
  return limit;
}

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
