/** What an examination says: one row a check, and which of them counts. */
import { errorMessage, isLilyError, type ErrorCode } from "#src/kernel/errors.ts";

/** One row of an examination. */
export interface Check {
  readonly check: string;
  /** `warn` costs something but loses nothing, `bad` is or will be lost. */
  readonly state: "ok" | "warn" | "bad";
  /** What was found, in plain words. */
  readonly found: string;
  /** What to do, where something can be done. */
  readonly next?: string | undefined;
  /** Of a bad row: the code that the whole answers with. */
  readonly code?: ErrorCode | undefined;
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
export function wrong(check: string, found: string, told: Pick<Check, "next" | "code"> = {}): Check {
  return { check, state: "bad", found, ...told };
}

/** The rows of `look`, or one that says why there are none. */
export async function orRow(check: string, look: () => Check[] | Promise<Check[]>): Promise<Check[]> {
  try {
    return await look();
  } catch (error) {
    const [code, next] = isLilyError(error) ? [error.code, error.next] : ["doctor_failed" as const];
    return [wrong(check, `it could not be looked at: ${errorMessage(error)}`, { code, next })];
  }
}

/** The first few of many names, for a row that stays readable. */
export function someOf(names: readonly string[], limit = 3): string {
  const rest = names.length - limit;
  return `${names.slice(0, limit).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}

const UNITS = ["B", "kB", "MB", "GB", "TB"];

/** `bytes` with three digits at most and a decimal unit: "512 B", "12.3 kB", "4 GB". */
export function sizeText(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), UNITS.length - 1);
  const value = bytes / 1000 ** power;
  const digits = power === 0 || value >= 100 ? 0 : 1;
  return `${value.toFixed(digits).replace(/\.0$/u, "")} ${UNITS[power]}`;
}
