/** Every statement on the tables of the store file. Nothing that a caller gives becomes part of one. */
import type { Database } from "better-sqlite3";
import type { DueItem } from "#memory/embedding/vectors.ts";
import type { StoredItemRow } from "../durable-store.ts";
import type { TextTable } from "./text-tables.ts";

/** An item found by a question. */
export interface RankedRow {
  readonly id: number;
  /** More is better; by words it is above 0. */
  readonly score: number;
}

/** What tells by which texts a stored item is indexed. */
export interface StoredText {
  readonly id: number;
  readonly fields: string | null;
  readonly value: string;
}

/** Everything at and below a namespace: `from` included, `to` not. */
export type PathRange = readonly [from: string, to: string | Buffer];

const ITEM = "n.path, i.key, i.value, i.created_at AS createdAt, i.updated_at AS updatedAt";

/** Condition on items `i` for a range of paths. */
const IN_RANGE = "i.namespace_id IN (SELECT id FROM namespaces WHERE path >= ? AND path < ?)";

/** Cosine to a question of the vectors of a model in a range of paths, by the function of sqlite-vec. */
export const SIMILARITIES = `SELECT i.id, 1 - vec_distance_cosine(v.vector, ?) AS score
  FROM items i CROSS JOIN vectors v ON v.item_id = i.id
  WHERE ${IN_RANGE} AND v.model = ? AND length(v.vector) = ?`;

/** Prepares them; the tables have to exist. */
export function prepareStatements(db: Database) {
  return {
    get: db.prepare<[string, string], StoredItemRow>(
      `SELECT ${ITEM} FROM namespaces n CROSS JOIN items i ON i.namespace_id = n.id WHERE n.path = ? AND i.key = ?`,
    ),
    getById: db.prepare<[number], StoredItemRow>(
      `SELECT ${ITEM} FROM items i CROSS JOIN namespaces n ON n.id = i.namespace_id WHERE i.id = ?`,
    ),
    list: db.prepare<[...PathRange, number, number], StoredItemRow>(
      `SELECT ${ITEM} FROM items i CROSS JOIN namespaces n ON n.id = i.namespace_id
       WHERE ${IN_RANGE} ORDER BY i.namespace_id, i.id LIMIT ? OFFSET ?`,
    ),
    paths: db
      .prepare<[...PathRange], string>(
        "SELECT path FROM namespaces WHERE path >= ? AND path < ? ORDER BY path",
      )
      .pluck(),
    namespaces: db.prepare<[], { readonly id: number; readonly path: string }>(
      "SELECT id, path FROM namespaces",
    ),
    findNamespace: db.prepare<[string], number>("SELECT id FROM namespaces WHERE path = ?").pluck(),
    addNamespace: db.prepare<[string]>("INSERT INTO namespaces (path) VALUES (?)"),
    dropEmptyNamespace: db.prepare<[number, number]>(
      "DELETE FROM namespaces WHERE id = ? AND NOT EXISTS (SELECT 1 FROM items WHERE namespace_id = ?)",
    ),
    find: db.prepare<[number, string], StoredText>(
      "SELECT id, index_fields AS fields, value FROM items WHERE namespace_id = ? AND key = ?",
    ),
    add: db.prepare<[number, string, number, number, string | null, string]>(
      "INSERT INTO items (namespace_id, key, created_at, updated_at, index_fields, value) VALUES (?, ?, ?, ?, ?, ?)",
    ),
    update: db.prepare<[number, string | null, string, number]>(
      "UPDATE items SET updated_at = ?, index_fields = ?, value = ? WHERE id = ?",
    ),
    delete: db.prepare<[number]>("DELETE FROM items WHERE id = ?"),
    anyVector: db.prepare<[string]>("SELECT 1 FROM vectors WHERE model = ? LIMIT 1"),
    // Of this model, and as long as its vectors are now; without a vector the model did not take the text.
    due: db.prepare<[string, string, number | null, number], DueItem>(
      `SELECT i.id, i.index_fields AS fields, i.value FROM items i
       WHERE i.namespace_id IN (SELECT value FROM json_each(?)) AND i.index_fields IS NOT NULL
         AND NOT EXISTS (SELECT 1 FROM vectors v
           WHERE v.item_id = i.id AND v.model = ? AND ifnull(length(v.vector) = ?, 1))
       ORDER BY i.id LIMIT ?`,
    ),
    isPresent: db.prepare<[number, string, string]>(
      "SELECT 1 FROM items WHERE id = ? AND value = ? AND index_fields = ?",
    ),
    putVector: db.prepare<[number, string, Buffer | null]>(
      "INSERT OR REPLACE INTO vectors (item_id, model, vector) VALUES (?, ?, ?)",
    ),
    dropVector: db.prepare<[number]>("DELETE FROM vectors WHERE item_id = ?"),
    texts: {
      item_text: prepareTextStatements(db, "item_text"),
      fact_text: prepareTextStatements(db, "fact_text"),
      passage_text: prepareTextStatements(db, "passage_text"),
    },
  };
}

function prepareTextStatements(db: Database, table: TextTable) {
  return {
    // FTS5 gives its rows in the order of `rank`, which is bm25, equals by id: they are read one by one until there are
    // enough. Ordered by bm25() instead, the item of every match would be read first.
    find: db.prepare<[string, ...PathRange], RankedRow>(
      `SELECT i.id, -${table}.rank AS score FROM ${table} CROSS JOIN items i ON i.id = ${table}.rowid
       WHERE ${table} MATCH ? AND ${IN_RANGE} ORDER BY ${table}.rank`,
    ),
    add: db.prepare<[number | bigint, string, string]>(
      `INSERT INTO ${table} (rowid, body, light) VALUES (?, ?, ?)`,
    ),
    remove: db.prepare<[number, string, string]>(
      `INSERT INTO ${table} (${table}, rowid, body, light) VALUES ('delete', ?, ?, ?)`,
    ),
  };
}
