/** Reads when a fact expires: a duration, a local date, or an instant. */
import ms from "ms";
import { Temporal } from "temporal-polyfill";
import { toInstant } from "#src/kernel/clock.ts";

const DATE = /^\d{4}-\d{2}-\d{2}$/u;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/u;
const DURATION = /^\d+(?:\.\d+)?\s*[a-z]+$/iu;

/** Hundred years: later than any fact is asked for, and within what a date can hold. */
const LONGEST_MS = 100 * 365.25 * 86_400_000;

/**
 * The instant (ISO 8601 in UTC) at which `text` ends: `90m`, `12h`, `30d`, `1y` from now; a date at the end of that local
 * day; an instant as it is. `undefined` when it is none of these, or not in the future.
 */
export function parseExpiry(
  text: string,
  { nowMs, timeZone }: { readonly nowMs: number; readonly timeZone: string },
): string | undefined {
  const endMs = endOf(text.trim(), nowMs, timeZone);
  return endMs > nowMs && endMs - nowMs <= LONGEST_MS ? toInstant(endMs) : undefined;
}

function endOf(text: string, nowMs: number, timeZone: string): number {
  if (DATE.test(text)) return startOfNextDay(text, timeZone);
  if (INSTANT.test(text)) return Date.parse(text);
  return DURATION.test(text) ? nowMs + ms(text as ms.StringValue) : Number.NaN;
}

/** `NaN` for a date that there is not. */
function startOfNextDay(date: string, timeZone: string): number {
  try {
    return Temporal.PlainDate.from(date).add({ days: 1 }).toZonedDateTime(timeZone).epochMilliseconds;
  } catch {
    return Number.NaN;
  }
}
