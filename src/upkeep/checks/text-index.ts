/** Checks that the text index has exactly the items that are to be found by their words. */
import { fine, warning, type Check } from "../check.ts";
import { findDamage } from "../damage.ts";
import { hasTable } from "../lease-rows.ts";
import type { ReadableDatabase } from "./database-file.ts";

/** Items and index entries that do not match. */
export interface TextIndexState {
  readonly indexed: number;
  /** Items that should be in the index and are not. */
  readonly missing: number;
  /** Entries without an item. */
  readonly extra: number;
  /** What SQLite finds wrong inside the index. */
  readonly damage: readonly string[];
}

// FTS5 keeps one row an entry in its docsize table.
const MISSING = `SELECT count(*) FROM items
  WHERE index_fields IS NOT NULL AND id NOT IN (SELECT id FROM item_text_docsize)`;
const EXTRA = `SELECT count(*) FROM item_text_docsize
  WHERE id NOT IN (SELECT id FROM items WHERE index_fields IS NOT NULL)`;
const INDEXED = "SELECT count(*) FROM items WHERE index_fields IS NOT NULL";

/** Compares the text index of a store file with its items. */
export function textIndexState(db: ReadableDatabase): TextIndexState {
  if (!hasTable(db, "items") || !hasTable(db, "item_text_docsize"))
    return { indexed: 0, missing: 0, extra: 0, damage: [] };
  const count = (sql: string): number => db.prepare<[], number>(sql).pluck().get() ?? 0;
  return {
    indexed: count(INDEXED),
    missing: count(MISSING),
    extra: count(EXTRA),
    damage: findDamage(db).text,
  };
}

/** Whether search by words would miss or invent something. */
export function isInStep({ missing, extra, damage }: TextIndexState): boolean {
  return missing === 0 && extra === 0 && damage.length === 0;
}

// FTS5 refuses to forget a text that it never had, so the put that would replace it fails.
const NEXT =
  "lily doctor --repair builds it anew; until then /recall may miss turns, and what is missing cannot be changed.";

/** The row of the text index. */
export function checkTextIndex(db: ReadableDatabase): Check {
  const state = textIndexState(db);
  if (isInStep(state)) return fine("text index", `${state.indexed} texts, in step with the items`);
  const [damage] = state.damage;
  const found = `${state.missing} texts are missing, ${state.extra} are of no item${damage === undefined ? "" : `; ${damage}`}`;
  return warning("text index", found, NEXT);
}
