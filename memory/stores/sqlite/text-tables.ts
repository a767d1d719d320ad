/** The full-text indexes of the store file: each item is in one of them, by the first label of its namespace. */
import type { Database } from "better-sqlite3";
import { LIGHT } from "#src/kernel/words.ts";
import { weighedTexts, type IndexFields } from "../index-fields.ts";
import { toSearchableText } from "./searchable-text.ts";

/** Names of the indexes. Facts, and passages of documents, have one of their own; all else shares the first. */
export const TEXT_TABLES = ["item_text", "fact_text", "passage_text"] as const;

/** Name of an index. */
export type TextTable = (typeof TEXT_TABLES)[number];

// To rank a question FTS5 reads every entry of each of its words: in one index for all, a few passages would be found the
// more slowly the more was ever said.
const BY_ROOT: ReadonlyMap<string, TextTable> = new Map([
  ["memory", "fact_text"],
  ["evidence", "passage_text"],
]);

/** The index of the items at `path`, a namespace as `encodePath` writes it. */
export function textTableOf(path: string): TextTable {
  return BY_ROOT.get(path.slice(0, path.indexOf("."))) ?? "item_text";
}

/** The indexes that hold what is at and below `path`; the empty one is above everything. */
export function textTablesUnder(path: string): readonly TextTable[] {
  return path === "" ? TEXT_TABLES : [textTableOf(path)];
}

/** The texts under which a value at `path` is indexed by some of its fields, the second one lighter; empty where they hold none. */
export function searchableTexts(json: string, fields: IndexFields, path: string): IndexedTexts {
  if (fields === false) return ["", ""];
  const [text, light] = weighedTexts(JSON.parse(json), fields, path.slice(0, path.indexOf(".")));
  return [toSearchableText(text), toSearchableText(light)];
}

/** What the two columns of an index hold of an item. */
export type IndexedTexts = readonly [body: string, light: string];

/** Whether two items have the same words in the same columns. */
export function areSame(a: IndexedTexts, b: IndexedTexts): boolean {
  return a[0] === b[0] && a[1] === b[1];
}

/** Whether there is nothing to index. */
export function isEmpty([body, light]: IndexedTexts): boolean {
  return body === "" && light === "";
}

// Measured on conversations with assistants: 4 of 100 more are found with it; where a person answers, 4 fewer.
// The index has no copy of the text (content='') and forgets a text only when it is told that text again, which with
// secure-delete removes its words at once; a contentless_delete table would keep them until it is merged.
// Positions are kept (detail=full): bm25 has nothing to count without them.
const createSql = (table: TextTable): string => `
  DROP TABLE IF EXISTS ${table};
  CREATE VIRTUAL TABLE ${table} USING fts5 (
    body, light, content = '', tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
  );
  INSERT INTO ${table} (${table}, rank) VALUES ('secure-delete', 1);
  INSERT INTO ${table} (${table}, rank) VALUES ('rank', 'bm25(1.0, ${LIGHT})');`;

interface IndexedRow {
  readonly id: number;
  readonly path: string;
  readonly fields: string;
  readonly value: string;
}

const ITEMS_AT_ONCE = 500;

/** Makes all indexes anew from the items. Runs in a transaction. @returns how many texts they have */
export function rebuildTextTables(db: Database): number {
  db.exec(TEXT_TABLES.map(createSql).join("\n"));
  const next = db.prepare<[number, number], IndexedRow>(
    `SELECT i.id, n.path, i.index_fields AS fields, i.value FROM items i JOIN namespaces n ON n.id = i.namespace_id
     WHERE i.index_fields IS NOT NULL AND i.id > ? ORDER BY i.id LIMIT ?`,
  );
  let texts = 0;
  for (let rows = next.all(0, ITEMS_AT_ONCE); rows.length > 0;) {
    for (const { id, path, fields, value } of rows) {
      const found = storedTexts(value, fields, path);
      if (found === undefined) continue;
      db.prepare(`INSERT INTO ${textTableOf(path)} (rowid, body, light) VALUES (?, ?, ?)`).run(id, ...found);
      texts += 1;
    }
    rows = next.all(rows.at(-1)?.id ?? 0, ITEMS_AT_ONCE);
  }
  return texts;
}

/** A value that is no JSON any more is no reason not to open the file: the doctor finds it. */
function storedTexts(value: string, fields: string, path: string): IndexedTexts | undefined {
  try {
    return searchableTexts(value, JSON.parse(fields) as string[], path);
  } catch {
    return undefined;
  }
}
