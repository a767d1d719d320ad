/** The real clock, ids and time zone: the only place that asks the machine for them. */
import { randomBytes, randomUUID } from "node:crypto";
import type { Clock } from "#src/kernel/clock.ts";
import type { Ids } from "#src/kernel/ids.ts";

/**
 * The machine's clock. `LILY_NOW`, an ISO instant, moves its start, for trying out what tomorrow brings.
 */
export function systemClock(env: Readonly<Record<string, string | undefined>> = {}): Clock {
  const wanted = env["LILY_NOW"] === undefined ? Number.NaN : Date.parse(env["LILY_NOW"]);
  const shift = Number.isNaN(wanted) ? 0 : wanted - Date.now();
  return { now: () => Date.now() + shift, monotonic: () => performance.now() };
}

/** Random ids. */
export const systemIds: Ids = {
  uuid: () => randomUUID(),
  salt: () => randomBytes(16).toString("base64url"),
};

/** IANA zone of the machine. */
export function machineTimeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}
