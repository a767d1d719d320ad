/** The real clock, ids and time zone: the only place that asks the machine for them. */
import { randomBytes } from "node:crypto";
import { v7 as uuidV7 } from "uuid";
import { type Clock, isTimeZone } from "#src/kernel/clock.ts";
import { LilyError } from "#src/kernel/errors.ts";
import type { Ids } from "#src/kernel/ids.ts";

/**
 * The machine's clock. `LILY_NOW`, an ISO instant, moves its start, for trying out what tomorrow brings.
 *
 * @throws {LilyError} `config_invalid` when `LILY_NOW` is set and is no instant
 */
export function systemClock(env: Readonly<Record<string, string | undefined>> = {}): Clock {
  const wanted = env["LILY_NOW"]?.trim() ?? "";
  const shift = wanted === "" ? 0 : Date.parse(wanted) - Date.now();
  if (Number.isNaN(shift)) {
    throw new LilyError("config_invalid", `LILY_NOW is ${JSON.stringify(wanted)}, which is no instant`, {
      next: "Use the form 2026-03-01T09:00:00Z, or leave it out.",
    });
  }
  return { now: () => Date.now() + shift, monotonic: () => performance.now() };
}

/** Ids by the machine's clock and random bits (UUIDv7), so that the later one sorts behind the earlier; salts are random alone. */
export const systemIds: Ids = {
  uuid: () => uuidV7(),
  salt: () => randomBytes(16).toString("base64url"),
};

let machineZone: string | undefined;

/** IANA zone of the machine, UTC where it tells none. The first answer takes a process longer than opening all its files. */
export function machineTimeZone(): string {
  const told = (machineZone ??= Intl.DateTimeFormat().resolvedOptions().timeZone ?? "");
  return isTimeZone(told) ? told : "UTC";
}

/** What a person is told when `TZ` names no zone that rules can go by: the machine then counts in UTC, or has a guess of its own. */
export function timeZoneProblem(tz: string | undefined): string | undefined {
  if (tz === undefined || isTimeZone(tz.replace(/^:/u, ""))) return undefined;
  return `TZ is ${JSON.stringify(tz)}, which names no time zone such as Europe/Paris: days and times are in ${machineTimeZone()}`;
}
