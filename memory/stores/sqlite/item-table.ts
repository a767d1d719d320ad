/** The items of the store file, their namespaces, words and vectors, by SQL. Nothing that a caller gives becomes part of a statement. */
import type { Database } from "better-sqlite3";
import type { DueItem } from "#memory/embedding/vectors.ts";
import { bytesOf, type DueQuery, type MadeVector, type StoredItemRow } from "../durable-store.ts";
import { indexedTexts, type IndexedTexts, type IndexFields } from "../index-fields.ts";
import { decodePath, endOfRange } from "../namespace.ts";
import type { ItemRef } from "../operations.ts";
import { rootOf, TEXT_TABLES, textTableOf, type TextTable } from "./text-tables.ts";

/** An item found by a question. */
export interface RankedRow {
  readonly id: number;
  /** Above 0; more is better. */
  readonly score: number;
}

/** A value to be put. */
export interface NewValue {
  readonly json: string;
  /** Field paths to index. */
  readonly fields: IndexFields;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

interface StoredText {
  readonly id: number;
  readonly fields: string | null;
  readonly value: string;
}

/** Everything at and below a namespace: `from` included, `to` not. */
type PathRange = readonly [from: string, to: string | Buffer];

/** The range of paths that begin with the labels of `path`, and no others. To SQLite every blob is greater than every text. */
function rangeOf(path: string): PathRange {
  return [path, path === "" ? Buffer.alloc(0) : endOfRange(path)];
}

/** To SQLite: all rows. */
const NO_LIMIT = -1;

/** Reads and writes items. Paths are namespaces as `encodePath` writes them. */
export class ItemTable {
  readonly #sql: ReturnType<typeof prepareStatements>;
  readonly #db: Database;

  /** The tables have to exist. */
  constructor(db: Database) {
    this.#db = db;
    this.#sql = prepareStatements(db);
  }

  get({ path, key }: ItemRef): StoredItemRow | undefined {
    return this.#sql.get.get(path, key);
  }

  getById(id: number): StoredItemRow | undefined {
    return this.#sql.getById.get(id);
  }

  /** Namespaces in the order in which they were first used, in each the items in the order in which they were first put. */
  list(
    path: string,
    { limit, offset }: { readonly limit: number; readonly offset: number },
  ): StoredItemRow[] {
    return this.#sql.list.all(...rangeOf(path), limit, offset);
  }

  /** As {@link list}, all of them, read as they are asked for: nothing may be written meanwhile. */
  iterate(path: string): Iterable<StoredItemRow> {
    return this.#sql.list.iterate(...rangeOf(path), NO_LIMIT, 0);
  }

  /** Paths of namespaces that hold at least one item, in order; read as they are asked for. */
  paths(path: string): Iterable<string> {
    return this.#sql.paths.iterate(...rangeOf(path));
  }

  /** Items that an FTS5 query finds, best first, equals in the order in which they were put. */
  find(match: string, path: string): Iterable<RankedRow> {
    const range = rangeOf(path);
    if (path !== "") return this.#sql.texts[textTableOf(path)].find.iterate(match, ...range);
    // Each index knows only how rare a word is in itself: across them the order is a rough one.
    return TEXT_TABLES.flatMap((table) => this.#sql.texts[table].find.all(match, ...range)).sort(
      (a, b) => b.score - a.score || a.id - b.id,
    );
  }

  /** Puts an item; one that exists keeps its place, its id and `createdAt`, and its vector if its text is the same. */
  put({ path, key }: ItemRef, { json, fields, now }: NewValue): void {
    const namespaceId =
      this.#sql.findNamespace.get(path) ?? Number(this.#sql.addNamespace.run(path).lastInsertRowid);
    const stored = this.#sql.find.get(namespaceId, key);
    const found = indexedTexts(json, fields, rootOf(path));
    const indexed = isEmpty(found) ? null : JSON.stringify(fields);
    const texts = this.#sql.texts[textTableOf(path)];
    if (stored === undefined) {
      const { lastInsertRowid } = this.#sql.add.run(namespaceId, key, now, now, indexed, json);
      if (!isEmpty(found)) texts.add.run(lastInsertRowid, ...found);
      return;
    }
    const before = textsBefore(stored, path);
    this.#sql.update.run(now, indexed, json, stored.id);
    if (before[0] === found[0] && before[1] === found[1]) return;
    if (!isEmpty(before)) texts.remove.run(stored.id, ...before);
    if (!isEmpty(found)) texts.add.run(stored.id, ...found);
    this.#sql.dropVector.run(stored.id);
  }

  /** Deletes an item, its words, and its namespace if that was the last one in it. */
  delete({ path, key }: ItemRef): void {
    const namespaceId = this.#sql.findNamespace.get(path);
    const stored = namespaceId === undefined ? undefined : this.#sql.find.get(namespaceId, key);
    if (namespaceId === undefined || stored === undefined) return;
    const texts = textsBefore(stored, path);
    if (!isEmpty(texts)) this.#sql.texts[textTableOf(path)].remove.run(stored.id, ...texts);
    this.#sql.delete.run(stored.id);
    this.#sql.dropEmptyNamespace.run(namespaceId, namespaceId);
  }

  hasVectors(model: string): boolean {
    return this.#sql.anyVector.get(model) !== undefined;
  }

  /** Similarity (cosine) to a question of every item at and below a path that has a vector, by id. */
  similarities(question: Float32Array, path: string, model: string): Map<number, number> {
    // Prepared when it is needed: its function is that of an extension.
    const statement = this.#db.prepare<
      [Buffer, ...PathRange, string, number],
      { readonly id: number; readonly similarity: number }
    >(SIMILARITIES);
    const rows = statement.all(bytesOf(question), ...rangeOf(path), model, question.byteLength);
    return new Map(rows.map(({ id, similarity }) => [id, similarity]));
  }

  dueVectors({ model, bytes, isEmbedded, limit }: DueQuery): DueItem[] {
    const embedded = this.#sql.namespaces.all().filter(({ path }) => isEmbedded(decodePath(path)));
    return this.#sql.due.all(JSON.stringify(embedded.map(({ id }) => id)), model, bytes, limit);
  }

  /** An item that was changed or deleted meanwhile is left as it is. */
  putVector({ id, value, fields, model, bytes }: MadeVector): void {
    if (this.#sql.isPresent.get(id, value, fields) !== undefined) this.#sql.putVector.run(id, model, bytes);
  }
}

function isEmpty([text, light]: IndexedTexts): boolean {
  return text === "" && light === "";
}

/** The texts under which a stored item was indexed, made again from its value. */
function textsBefore({ fields, value }: StoredText, path: string): IndexedTexts {
  return indexedTexts(value, fields === null ? false : (JSON.parse(fields) as string[]), rootOf(path));
}

const ITEM = "n.path, i.key, i.value, i.created_at AS createdAt, i.updated_at AS updatedAt";

/** Condition on items `i` for a range of paths. */
const IN_RANGE = "i.namespace_id IN (SELECT id FROM namespaces WHERE path >= ? AND path < ?)";

const SIMILARITIES = `SELECT i.id, 1 - vec_distance_cosine(v.vector, ?) AS similarity
  FROM items i CROSS JOIN vectors v ON v.item_id = i.id
  WHERE ${IN_RANGE} AND v.model = ? AND length(v.vector) = ?`;

function prepareStatements(db: Database) {
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
