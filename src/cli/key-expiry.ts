/** Reads until when a key holds, as a person types it. */
import ms, { type StringValue } from "ms";
import { z } from "zod";
import { fromInstant, toInstant } from "#src/kernel/clock.ts";
import { LilyError } from "#src/kernel/errors.ts";

const DURATION = /^\d+ ?(?:m|h|d|w|y)$/u;

/**
 * The instant that `text` names: an instant with its zone, a date (its beginning in UTC), or a duration from now.
 *
 * @throws {LilyError} `request_invalid` when it is none of them, or not in the future
 */
export function parseExpiry(text: string, nowMs: number): string {
  const atMs = DURATION.test(text) ? nowMs + ms(text as StringValue) : instantMs(text);
  // Four digits for the year: later instants have a form of their own, which the key file does not take.
  if (atMs > nowMs && atMs < fromInstant("9999-12-31T23:59:59Z")) return toInstant(atMs);
  throw new LilyError("request_invalid", `${JSON.stringify(text.slice(0, 40))} is no time in the future`, {
    next: "Use a duration like 90d, a date like 2027-01-31, or an instant like 2027-01-31T12:00:00Z.",
  });
}

function instantMs(text: string): number {
  const isTime = z.union([z.iso.date(), z.iso.datetime({ offset: true })]).safeParse(text).success;
  return isTime ? fromInstant(text) : Number.NaN;
}
