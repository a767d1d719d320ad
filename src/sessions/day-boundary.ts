/** When a local day ends for a conversation: one boundary a local date, in the key's own time zone. */
import { Temporal } from "temporal-polyfill";
import { fromInstant } from "#src/kernel/clock.ts";

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
