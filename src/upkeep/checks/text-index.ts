/** Checks that each text index has exactly the items that are to be found by their words. */
import { TEXT_TABLES, textTableSql, type TextTable } from "#memory/stores/sqlite/text-tables.ts";
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

/** Compares the text indexes of a store file with its items. */
export function textIndexState(db: ReadableDatabase): TextIndexState {
  const tables = textTablesIn(db);
  const damage = tables.length === 0 ? [] : findDamage(db).text;
  return tables.map((table) => textTableState(db, table, damage)).reduce(sumOf, NOTHING);
}

/** Compares one of them; `damage` is what SQLite finds wrong in all of them. */
export function textTableState(
  db: ReadableDatabase,
  table: TextTable,
  damage: readonly string[] = findDamage(db).text,
): TextIndexState {
  // FTS5 keeps one row an entry in its docsize table.
  const items = `SELECT i.id FROM items i JOIN namespaces n ON n.id = i.namespace_id
    WHERE i.index_fields IS NOT NULL AND ${textTableSql("n.path")} = '${table}'`;
  const entries = `SELECT id FROM ${table}_docsize`;
  const count = (sql: string): number =>
    db.prepare<[], number>(`SELECT count(*) FROM (${sql})`).pluck().get() ?? 0;
  return {
    indexed: count(items),
    missing: count(`${items} AND i.id NOT IN (${entries})`),
    extra: count(`${entries} WHERE id NOT IN (${items})`),
    damage: damage.filter((problem) => problem.includes(table)),
  };
}

/** The text indexes that a store file has; none before it has any item. */
export function textTablesIn(db: ReadableDatabase): TextTable[] {
  return hasTable(db, "items") ? TEXT_TABLES.filter((table) => hasTable(db, `${table}_docsize`)) : [];
}

const NOTHING: TextIndexState = { indexed: 0, missing: 0, extra: 0, damage: [] };

function sumOf(a: TextIndexState, b: TextIndexState): TextIndexState {
  return {
    indexed: a.indexed + b.indexed,
    missing: a.missing + b.missing,
    extra: a.extra + b.extra,
    damage: [...a.damage, ...b.damage],
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
