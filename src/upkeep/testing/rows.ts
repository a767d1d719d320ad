/** Looks into the rows of an examination. */
import type { Check } from "../check.ts";

/** The rows that are not ok, by name and state. */
export function notOk(checks: readonly Check[]): Record<string, string> {
  return Object.fromEntries(
    checks.filter(({ state }) => state !== "ok").map(({ check, state }) => [check, state]),
  );
}

/** The gravest row of a name. */
export function rowOf(checks: readonly Check[], name: string): Check {
  const rows = checks.filter(({ check }) => check === name);
  const row = rows.find(({ state }) => state !== "ok") ?? rows[0];
  if (row === undefined) throw new Error(`there is no row ${name}`);
  return row;
}
