/** Reads when a fact expires: a duration, a local date, or an instant. */
import ms from "ms";
import { toInstant } from "#src/kernel/clock.ts";
import { localMinute, nextBoundaryAfter } from "#src/sessions/day-boundary.ts";

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
  if (DATE.test(text)) return endOfDay(text, timeZone);
  if (INSTANT.test(text)) return Date.parse(text);
  return DURATION.test(text) ? nowMs + ms(text as ms.StringValue) : Number.NaN;
}

/** The midnight after a local date, which is the last one that begins after its noon. `NaN` for a date that is none. */
function endOfDay(date: string, timeZone: string): number {
  const noonMs = Date.parse(`${date}T12:00:00.000Z`);
  // "2026-02-31" is taken for a day in March.
  if (!Number.isFinite(noonMs) || !toInstant(noonMs).startsWith(date)) return Number.NaN;
  return nextBoundaryAfter(localNoon(date, noonMs, timeZone), { at: "00:00", timeZone });
}

/** Noon of the local date: noon in UTC may lie on the day before or after. */
function localNoon(date: string, noonMs: number, timeZone: string): number {
  for (const hours of [0, -12, 12]) {
    const atMs = noonMs + hours * 3_600_000;
    if (localMinute(atMs, timeZone).startsWith(date)) return atMs;
  }
  return noonMs;
}
