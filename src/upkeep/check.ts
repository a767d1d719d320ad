/** What an examination says: one row a check, and which of them counts. */
import type { ErrorCode } from "#src/kernel/errors.ts";

/** How grave a finding is: `warn` costs something but loses nothing, `bad` is or will be lost. */
export type CheckState = "ok" | "warn" | "bad";

/** One row of an examination. */
export interface Check {
  readonly check: string;
  readonly state: CheckState;
  /** What was found, in plain words. */
  readonly found: string;
  /** What to do, where something can be done. */
  readonly next?: string;
  /** Of a bad row: the code that the whole answers with. */
  readonly code?: ErrorCode;
}

/** A row that says that all is well. */
export function fine(check: string, found: string): Check {
  return { check, state: "ok", found };
}

/** A row that says that something should be done. */
export function warning(check: string, found: string, next: string): Check {
  return { check, state: "warn", found, next };
}

/** A row that says that something is wrong. */
export function wrong(
  check: string,
  found: string,
  options: { next?: string; code?: ErrorCode } = {},
): Check {
  return { check, state: "bad", found, ...options };
}

const GRAVITY: Readonly<Record<CheckState, number>> = { ok: 0, warn: 1, bad: 2 };

/** The gravest row, the first of several; `undefined` when there is none. */
export function gravest(checks: readonly Check[]): Check | undefined {
  return checks.reduce<Check | undefined>(
    (worst, check) => (worst === undefined || GRAVITY[check.state] > GRAVITY[worst.state] ? check : worst),
    undefined,
  );
}

/** "1 turn", "2 turns". */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** The first few of many names, for a row that stays readable. */
export function someOf(names: readonly string[], limit = 3): string {
  const rest = names.length - limit;
  return `${names.slice(0, limit).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}
