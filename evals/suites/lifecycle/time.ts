/** Time in lifecycle cases: the default policy's numbers, and how far it is to an hour. */

/** One minute in milliseconds. */
export const MINUTE = 60_000;

/** One hour in milliseconds. */
export const HOUR = 60 * MINUTE;

/** Default idle limit of a session. */
export const IDLE_LIMIT = 12 * HOUR;

/** Default time for which a conversation that is active at the day boundary goes on. */
export const BOUNDARY_MIN_IDLE = 10 * MINUTE;

/** Milliseconds from `nowMs` to the next `hour:minute` in UTC, above 0. Runners that move time keep their days in UTC. */
export function until(nowMs: number, hour: number, minute = 0): number {
  const midnight = Math.floor(nowMs / (24 * HOUR)) * 24 * HOUR;
  const wanted = midnight + hour * HOUR + minute * MINUTE;
  return wanted > nowMs ? wanted - nowMs : wanted + 24 * HOUR - nowMs;
}
