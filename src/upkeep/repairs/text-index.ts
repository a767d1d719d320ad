/** Builds a text index anew beside the one in use, in short steps, and then puts it in its place in one. */
import { setImmediate as nextTick } from "node:timers/promises";
import type { Database } from "better-sqlite3";
import { z } from "zod";
import { retryBusy } from "#memory/stores/sqlite/retry-busy.ts";
import { searchableText } from "#memory/stores/sqlite/store-writer.ts";
import { textTableSql, type TextTable } from "#memory/stores/sqlite/text-tables.ts";
import { counted } from "../check.ts";
import { isInStep, textTablesIn, textTableState } from "../checks/text-index.ts";
import { findDamage } from "../damage.ts";
import { done, type Outcome } from "./outcome.ts";

/** Items a transaction indexes. */
const ITEMS_PER_STEP = 100;

// What others do to an item that is indexed already is noted with the text it was indexed by, because the index forgets
// a text only when it is told that text again. The first note of an item counts; later ones tell of texts that the new
// index never had. Triggers, because other processes write too, and theirs must be noted as well.
const changed = (table: TextTable, event: "INSERT" | "UPDATE" | "DELETE", row: "NEW" | "OLD"): string => `
  CREATE TRIGGER ${table}_new_${event.toLowerCase()} AFTER ${event} ON items
  WHEN ${row}.id <= (SELECT upto FROM ${table}_new_progress)
    AND ${textTableSql(`(SELECT path FROM namespaces WHERE id = ${row}.namespace_id)`)} = '${table}'
  BEGIN
    INSERT OR IGNORE INTO ${table}_new_changes (id, index_fields, value)
    VALUES (${row}.id, ${row === "OLD" ? "OLD.index_fields, OLD.value" : "NULL, NULL"});
  END;`;

const dropNotes = (table: TextTable): string => `
  ${["insert", "update", "delete"].map((event) => `DROP TRIGGER IF EXISTS ${table}_new_${event};`).join("\n")}
  DROP TABLE IF EXISTS ${table}_new_progress;
  DROP TABLE IF EXISTS ${table}_new_changes;`;

const makeNotes = (table: TextTable): string => `${dropNotes(table)}
  DROP TABLE IF EXISTS ${table}_new;
  CREATE TABLE ${table}_new_progress (upto INTEGER NOT NULL) STRICT;
  INSERT INTO ${table}_new_progress VALUES (0);
  CREATE TABLE ${table}_new_changes (id INTEGER PRIMARY KEY, index_fields TEXT, value TEXT) STRICT;
  ${changed(table, "INSERT", "NEW")} ${changed(table, "UPDATE", "OLD")} ${changed(table, "DELETE", "OLD")}`;

const swap = (table: TextTable): string => `${dropNotes(table)}
  DROP TABLE ${table};
  ALTER TABLE ${table}_new RENAME TO ${table};`;

const fieldsSchema = z.array(z.string());

interface IndexedRow {
  readonly id: number;
  readonly index_fields: string | null;
  readonly value: string | null;
}

/** How {@link rebuildTextIndex} goes on. */
interface RebuildOptions {
  readonly afterStep?: () => void;
}

/**
 * Rebuilds each text index that is not in step. One that was cut off half way is begun anew by the next call.
 */
export async function rebuildTextIndex(store: Database, options: RebuildOptions = {}): Promise<Outcome> {
  const damage = findDamage(store).text;
  const damaged = textTablesIn(store).filter((table) => !isInStep(textTableState(store, table, damage)));
  if (damaged.length === 0) return undefined;
  let texts = 0;
  for (const table of damaged) {
    await rebuild(store, table, options);
    texts += textTableState(store, table, []).indexed;
  }
  return done(`built the text index anew from ${counted(texts, "text")}`);
}

async function rebuild(
  store: Database,
  table: TextTable,
  { afterStep = () => undefined }: RebuildOptions,
): Promise<void> {
  const once = <T>(work: () => T): Promise<T> =>
    retryBusy(() => store.transaction(work).immediate(), { file: store.name });
  await once(() => prepare(store, table));
  while (!(await once(() => indexSome(store, table)))) {
    afterStep();
    await nextTick();
  }
  await once(() => {
    while (!indexSome(store, table));
    applyChanges(store, table);
    store.exec(swap(table));
  });
}

function prepare(store: Database, table: TextTable): void {
  store.exec(makeNotes(table));
  const sql =
    store.prepare<[string], string>("SELECT sql FROM sqlite_schema WHERE name = ?").pluck().get(table) ?? "";
  store.exec(sql.replace(/\b(?:item|fact|passage)_text\b/u, `${table}_new`));
  store.exec(`INSERT INTO ${table}_new (${table}_new, rank) VALUES ('secure-delete', 1)`);
}

/** Indexes those of the next items that belong in it. @returns whether all are indexed */
function indexSome(store: Database, table: TextTable): boolean {
  const rows = store
    .prepare<[number], IndexedRow & { readonly belongs: number }>(
      `SELECT i.id, i.index_fields, i.value, ${textTableSql("n.path")} = '${table}' AS belongs
       FROM items i CROSS JOIN namespaces n ON n.id = i.namespace_id
       WHERE i.id > (SELECT upto FROM ${table}_new_progress) ORDER BY i.id LIMIT ?`,
    )
    .all(ITEMS_PER_STEP);
  for (const row of rows) if (row.belongs === 1) add(store, table, row);
  const last = rows.at(-1);
  if (last !== undefined) store.prepare(`UPDATE ${table}_new_progress SET upto = ?`).run(last.id);
  return rows.length < ITEMS_PER_STEP;
}

function applyChanges(store: Database, table: TextTable): void {
  const changes = store
    .prepare<[], IndexedRow>(`SELECT id, index_fields, value FROM ${table}_new_changes`)
    .all();
  const find = store.prepare<[number], IndexedRow>("SELECT id, index_fields, value FROM items WHERE id = ?");
  for (const change of changes) {
    const before = textOf(change);
    if (before !== undefined) {
      store
        .prepare(`INSERT INTO ${table}_new (${table}_new, rowid, body) VALUES ('delete', ?, ?)`)
        .run(change.id, before);
    }
    const now = find.get(change.id);
    if (now !== undefined) add(store, table, now);
  }
}

function add(store: Database, table: TextTable, row: IndexedRow): void {
  const text = textOf(row);
  if (text !== undefined)
    store.prepare(`INSERT INTO ${table}_new (rowid, body) VALUES (?, ?)`).run(row.id, text);
}

/** The text as the store indexes it, `undefined` for an item that is not in the index. */
function textOf({ index_fields: fields, value }: IndexedRow): string | undefined {
  if (fields === null || value === null) return undefined;
  return searchableText(value, fieldsSchema.parse(JSON.parse(fields)));
}
