/** Asks SQLite whether a database is whole. */
import type { Database } from "better-sqlite3";

/** What SQLite finds wrong. */
export interface Damage {
  /** In tables and pages: something is lost. */
  readonly pages: readonly string[];
  /** In full-text indexes, which are made anew from what they index. */
  readonly text: readonly string[];
}

/** Problems that are named; a badly damaged file has thousands. */
const MOST = 20;

/** Checks every page, or with `quick` all but whether indexes match their tables. Reads only. */
export function findDamage(db: Database, options: { readonly quick?: boolean } = {}): Damage {
  const name = options.quick === true ? "quick_check" : "integrity_check";
  const found = problemsOf(db, name).filter((problem) => problem !== "ok");
  const isText = (problem: string): boolean => /FTS5 table/u.test(problem);
  return { pages: found.filter((problem) => !isText(problem)), text: found.filter(isText) };
}

function problemsOf(db: Database, name: string): string[] {
  try {
    return db.prepare<[], string>(`PRAGMA ${name}(${MOST})`).pluck().all();
  } catch (error) {
    // The damage is such that not even looking for it works.
    if (error instanceof Error && "code" in error && String(error.code).startsWith("SQLITE_CORRUPT"))
      return [error.message];
    throw error;
  }
}
