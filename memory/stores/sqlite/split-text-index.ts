/** The step that gives facts and passages a text index of their own in a file where all items shared one. */
import type { Database } from "better-sqlite3";
import type { Migration } from "./migrate.ts";
import { isDamage } from "./sqlite-errors.ts";
import { searchableText } from "./store-writer.ts";
import { OWN_TEXT_TABLES, type TextTable } from "./text-tables.ts";

const ITEMS_AT_ONCE = 500;

interface IndexedRow {
  readonly id: number;
  readonly indexFields: string | null;
  readonly value: string;
}

/**
 * Makes the indexes and moves into them what is theirs. Entries leave the shared one by marks, and merging it as a whole
 * then drops what is marked: taken out one by one, ten thousand of them would take many seconds.
 */
export const splitTextIndex: Migration = (db) => {
  db.exec("INSERT INTO item_text (item_text, rank) VALUES ('secure-delete', 0)");
  for (const [root, table] of OWN_TEXT_TABLES) {
    db.exec(`
      CREATE VIRTUAL TABLE ${table} USING fts5 (
        body, content = '', tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
      );
      INSERT INTO ${table} (${table}, rank) VALUES ('secure-delete', 1);
    `);
    moveTexts(db, root, table);
  }
  db.exec("INSERT INTO item_text (item_text) VALUES ('optimize')");
  db.exec("INSERT INTO item_text (item_text, rank) VALUES ('secure-delete', 1)");
};

function moveTexts(db: Database, root: string, table: TextTable): void {
  const namespaces = db
    .prepare<[string, string], number>("SELECT id FROM namespaces WHERE path >= ? AND path < ?")
    .pluck()
    .all(`${root}.`, `${root}/`);
  const next = db.prepare<[number, number, number], IndexedRow>(
    `SELECT id, index_fields AS indexFields, value FROM items
     WHERE namespace_id = ? AND id > ? ORDER BY id LIMIT ?`,
  );
  const move = mover(db, table);
  for (const namespace of namespaces) {
    for (let after = 0; ;) {
      const rows = next.all(namespace, after, ITEMS_AT_ONCE);
      for (const row of rows) move(row);
      const last = rows.at(-1);
      if (last === undefined || rows.length < ITEMS_AT_ONCE) break;
      after = last.id;
    }
  }
}

function mover(db: Database, table: TextTable): (row: IndexedRow) => void {
  const remove = db.prepare<[number, string]>(
    "INSERT INTO item_text (item_text, rowid, body) VALUES ('delete', ?, ?)",
  );
  const add = db.prepare<[number, string]>(`INSERT INTO ${table} (rowid, body) VALUES (?, ?)`);
  return (row) => {
    const text = textOf(row);
    if (text === undefined) return;
    add.run(row.id, text);
    try {
      remove.run(row.id, text);
    } catch (error) {
      // An index that was out of step does not know the text. `lily doctor` says so and builds it anew; the file opens.
      if (!isDamage(error)) throw error;
    }
  };
}

function textOf({ indexFields, value }: IndexedRow): string | undefined {
  if (indexFields === null) return undefined;
  try {
    return searchableText(value, JSON.parse(indexFields) as string[]);
  } catch {
    // A value that is no JSON any more is no reason not to open the file; the doctor finds it.
    return undefined;
  }
}
