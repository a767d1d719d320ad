/** Builds the text index anew beside the one in use, in short steps, and then puts it in its place in one. */
import { setImmediate as nextTick } from "node:timers/promises";
import type { Database } from "better-sqlite3";
import { z } from "zod";
import { retryBusy } from "#memory/stores/sqlite/retry-busy.ts";
import { searchableText } from "#memory/stores/sqlite/store-writer.ts";
import { counted } from "../check.ts";
import { isInStep, textIndexState } from "../checks/text-index.ts";
import { done, type Outcome } from "./outcome.ts";

/** Items a transaction indexes. */
const ITEMS_PER_STEP = 100;

// What others do to an item that is indexed already is noted with the text it was indexed by, because the index forgets
// a text only when it is told that text again. The first note of an item counts; later ones tell of texts that the new
// index never had. Triggers, because other processes write too, and theirs must be noted as well.
const CHANGED = (event: "INSERT" | "UPDATE" | "DELETE", row: "NEW" | "OLD"): string => `
  CREATE TRIGGER item_text_new_${event.toLowerCase()} AFTER ${event} ON items
  WHEN ${row}.id <= (SELECT upto FROM item_text_new_progress) BEGIN
    INSERT OR IGNORE INTO item_text_new_changes (id, index_fields, value)
    VALUES (${row}.id, ${row === "OLD" ? "OLD.index_fields, OLD.value" : "NULL, NULL"});
  END;`;

const DROP_TRIGGERS = ["insert", "update", "delete"]
  .map((event) => `DROP TRIGGER IF EXISTS item_text_new_${event};`)
  .join("\n");

const DROP_NOTES = `${DROP_TRIGGERS}
  DROP TABLE IF EXISTS item_text_new_progress;
  DROP TABLE IF EXISTS item_text_new_changes;`;

const PREPARE = `${DROP_NOTES}
  DROP TABLE IF EXISTS item_text_new;
  CREATE TABLE item_text_new_progress (upto INTEGER NOT NULL) STRICT;
  INSERT INTO item_text_new_progress VALUES (0);
  CREATE TABLE item_text_new_changes (id INTEGER PRIMARY KEY, index_fields TEXT, value TEXT) STRICT;
  ${CHANGED("INSERT", "NEW")} ${CHANGED("UPDATE", "OLD")} ${CHANGED("DELETE", "OLD")}`;

const SWAP = `${DROP_NOTES}
  DROP TABLE item_text;
  ALTER TABLE item_text_new RENAME TO item_text;`;

const fieldsSchema = z.array(z.string());

interface IndexedRow {
  readonly id: number;
  readonly index_fields: string | null;
  readonly value: string | null;
}

/**
 * Rebuilds the text index where it is not in step. One that was cut off half way is begun anew by the next call.
 */
export async function rebuildTextIndex(
  store: Database,
  { afterStep = () => undefined }: { readonly afterStep?: () => void } = {},
): Promise<Outcome> {
  if (isInStep(textIndexState(store))) return undefined;
  const once = <T>(work: () => T): Promise<T> =>
    retryBusy(() => store.transaction(work).immediate(), { file: store.name });
  await once(() => prepare(store));
  while (!(await once(() => indexSome(store)))) {
    afterStep();
    await nextTick();
  }
  await once(() => {
    while (!indexSome(store));
    applyChanges(store);
    store.exec(SWAP);
  });
  return done(`built the text index anew from ${counted(textIndexState(store).indexed, "text")}`);
}

function prepare(store: Database): void {
  store.exec(PREPARE);
  const sql =
    store.prepare<[], string>("SELECT sql FROM sqlite_schema WHERE name = 'item_text'").pluck().get() ?? "";
  store.exec(sql.replace(/\bitem_text\b/u, "item_text_new"));
  store.exec("INSERT INTO item_text_new (item_text_new, rank) VALUES ('secure-delete', 1)");
}

/** Indexes the next items. @returns whether all are indexed */
function indexSome(store: Database): boolean {
  const rows = store
    .prepare<[number], IndexedRow>(
      `SELECT id, index_fields, value FROM items WHERE id > (SELECT upto FROM item_text_new_progress) ORDER BY id LIMIT ?`,
    )
    .all(ITEMS_PER_STEP);
  for (const row of rows) add(store, row);
  const last = rows.at(-1);
  if (last !== undefined) store.prepare("UPDATE item_text_new_progress SET upto = ?").run(last.id);
  return rows.length < ITEMS_PER_STEP;
}

function applyChanges(store: Database): void {
  const changes = store
    .prepare<[], IndexedRow>("SELECT id, index_fields, value FROM item_text_new_changes")
    .all();
  const find = store.prepare<[number], IndexedRow>("SELECT id, index_fields, value FROM items WHERE id = ?");
  for (const change of changes) {
    const before = textOf(change);
    if (before !== undefined) {
      store
        .prepare("INSERT INTO item_text_new (item_text_new, rowid, body) VALUES ('delete', ?, ?)")
        .run(change.id, before);
    }
    const now = find.get(change.id);
    if (now !== undefined) add(store, now);
  }
}

function add(store: Database, row: IndexedRow): void {
  const text = textOf(row);
  if (text !== undefined)
    store.prepare("INSERT INTO item_text_new (rowid, body) VALUES (?, ?)").run(row.id, text);
}

/** The text as the store indexes it, `undefined` for an item that is not in the index. */
function textOf({ index_fields: fields, value }: IndexedRow): string | undefined {
  if (fields === null || value === null) return undefined;
  return searchableText(value, fieldsSchema.parse(JSON.parse(fields)));
}
