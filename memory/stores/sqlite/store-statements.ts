/** The SQL of the store. Nothing that a caller gives becomes part of a statement. */
import type { Database } from "better-sqlite3";
import type { FactStateRow } from "../fact-search.ts";
import type { StoredItemRow } from "../stored-item.ts";
import { CONFLICT_GROUP, FACT_STATE, IS_FACT, NEWNESS } from "./fact-sql.ts";
import { preparedOnUse } from "./prepared-on-use.ts";
import type { TextTable } from "./text-tables.ts";

/** What a change has to know of the item that was there. */
export interface StoredItem {
  readonly id: number;
  readonly indexFields: string | null;
  /** JSON text; null when the item is not in the text index. */
  readonly indexedValue: string | null;
  /** Model whose vector of the text is up to date; null when there is none. */
  readonly vectorModel: number | null;
}

/** Everything at and below a namespace: `from` included, `to` not. */
export interface PathRange {
  readonly from: string;
  readonly to: string | Buffer;
}

/** The range of paths that begin with the labels of `path`, and no others: `/` is the character after `.`. */
export function rangeOf(path: string): PathRange {
  // To SQLite every blob is greater than every text.
  return path === "" ? { from: "", to: Buffer.alloc(0) } : { from: path, to: `${path.slice(0, -1)}/` };
}

const ITEM = "n.path, i.key, i.value, i.created_at AS createdAt, i.updated_at AS updatedAt";
const IN_RANGE = "i.namespace_id IN (SELECT id FROM namespaces WHERE path >= ? AND path < ?)";

/** Statements for a search, with room for `equalities` conditions on fields (path and JSON text each). */
function listSql(equalities: number): string {
  return `SELECT ${ITEM} FROM items i CROSS JOIN namespaces n ON n.id = i.namespace_id
    WHERE ${IN_RANGE}${" AND i.value -> ? = ?".repeat(equalities)}
    ORDER BY i.namespace_id, i.id LIMIT ? OFFSET ?`;
}

/** The newest facts of one namespace. */
function newestSql(equalities: number): string {
  return factsSql("facts_by_age", " AND i.value -> ? = ?".repeat(equalities));
}

/** The same of those that are about one thing. */
function newestOfGroupSql(equalities: number): string {
  return factsSql(
    "facts_by_group",
    ` AND ${CONFLICT_GROUP} = ?${" AND i.value -> ? = ?".repeat(equalities)}`,
  );
}

function factsSql(index: string, conditions: string): string {
  return `SELECT ${ITEM}, ${NEWNESS} AS newness
    FROM items i INDEXED BY ${index} CROSS JOIN namespaces n ON n.id = i.namespace_id
    WHERE i.namespace_id = (SELECT id FROM namespaces WHERE path = ?) AND ${IS_FACT}${conditions}
    ORDER BY ${NEWNESS} DESC, i.key LIMIT ? OFFSET ?`;
}

/** Statements for the items of which the key is in a range. */
function byKeySql(equalities: number): string {
  return `SELECT ${ITEM} FROM items i INDEXED BY items_by_key CROSS JOIN namespaces n ON n.id = i.namespace_id
    WHERE ${IN_RANGE} AND i.key >= ? AND i.key < ?${" AND i.value -> ? = ?".repeat(equalities)}
    ORDER BY i.namespace_id, i.key LIMIT ? OFFSET ?`;
}

const STATES = `SELECT ${FACT_STATE} AS state, count(*) AS facts FROM items INDEXED BY facts_by_state
  WHERE namespace_id = (SELECT id FROM namespaces WHERE path = ?) AND ${IS_FACT} GROUP BY ${FACT_STATE}`;

// `rank` is bm25, and FTS5 gives its rows in that order, equals by id: items are read one by one until there are enough.
// Ordered by bm25() instead, the item of every match is read first, which at 100k takes five times as long as the index.
function rankSql(table: TextTable, equalities: number): string {
  return `SELECT i.id, -${table}.rank AS score FROM ${table} CROSS JOIN items i ON i.id = ${table}.rowid
    WHERE ${table} MATCH ? AND ${IN_RANGE}${" AND i.value -> ? = ?".repeat(equalities)}
    ORDER BY ${table}.rank LIMIT ? OFFSET ?`;
}

/** A fact with the instant by which it is ordered; null where its value has none. */
export interface NewestRow extends StoredItemRow {
  readonly newness: string | null;
}

/** An item found by its words. */
export interface RankedRow {
  readonly id: number;
  /** Above 0; more is better. */
  readonly score: number;
}

type Parameters = (string | number | Buffer)[];

/** Prepares each statement of the store once. */
export function prepareStatements(db: Database) {
  return preparedOnUse({ ...reading(db), ...writing(db), texts: () => prepareTextTables(db) });
}

function reading(db: Database) {
  return {
    get: () =>
      db.prepare<[string, string], StoredItemRow>(
        `SELECT ${ITEM} FROM namespaces n CROSS JOIN items i ON i.namespace_id = n.id WHERE n.path = ? AND i.key = ?`,
      ),
    getById: () =>
      db.prepare<[number], StoredItemRow>(
        `SELECT ${ITEM} FROM items i CROSS JOIN namespaces n ON n.id = i.namespace_id WHERE i.id = ?`,
      ),
    list: () => cached((equalities) => db.prepare<Parameters, StoredItemRow>(listSql(equalities))),
    newest: () => cached((equalities) => db.prepare<Parameters, NewestRow>(newestSql(equalities))),
    newestOfGroup: () =>
      cached((equalities) => db.prepare<Parameters, NewestRow>(newestOfGroupSql(equalities))),
    byKey: () => cached((equalities) => db.prepare<Parameters, StoredItemRow>(byKeySql(equalities))),
    states: () => db.prepare<[string], FactStateRow>(STATES),
    countItems: () =>
      db
        .prepare<[string], number>(
          "SELECT count(*) FROM items WHERE namespace_id = (SELECT id FROM namespaces WHERE path = ?)",
        )
        .pluck(),
    paths: () =>
      db
        .prepare<[string, string | Buffer], string>(
          "SELECT path FROM namespaces WHERE path >= ? AND path < ? ORDER BY path",
        )
        .pluck(),
  };
}

function writing(db: Database) {
  return {
    findNamespace: () => db.prepare<[string], number>("SELECT id FROM namespaces WHERE path = ?").pluck(),
    addNamespace: () => db.prepare<[string]>("INSERT INTO namespaces (path) VALUES (?)"),
    dropEmptyNamespace: () =>
      db.prepare<[number, number]>(
        "DELETE FROM namespaces WHERE id = ? AND NOT EXISTS (SELECT 1 FROM items WHERE namespace_id = ?)",
      ),

    findItem: () =>
      db.prepare<[number, string], StoredItem>(
        `SELECT id, index_fields AS indexFields, iif(index_fields IS NULL, NULL, value) AS indexedValue,
         vector_model AS vectorModel
       FROM items WHERE namespace_id = ? AND key = ?`,
      ),
    addItem: () =>
      db.prepare<[number, string, number, number, string | null, string]>(
        "INSERT INTO items (namespace_id, key, created_at, updated_at, index_fields, value) VALUES (?, ?, ?, ?, ?, ?)",
      ),
    updateItem: () =>
      db.prepare<[number, string | null, string, number | null, number]>(
        "UPDATE items SET updated_at = ?, index_fields = ?, value = ?, vector_model = ? WHERE id = ?",
      ),
    valueOf: () => db.prepare<[number], string>("SELECT value FROM items WHERE id = ?").pluck(),
    vectorTextHash: () =>
      db.prepare<[number], Buffer>("SELECT text_hash FROM item_vectors WHERE item_id = ?").pluck(),
    deleteItem: () => db.prepare<[number]>("DELETE FROM items WHERE id = ?"),
  };
}

function prepareTextTables(db: Database) {
  return {
    item_text: prepareTextStatements(db, "item_text"),
    fact_text: prepareTextStatements(db, "fact_text"),
    passage_text: prepareTextStatements(db, "passage_text"),
  } satisfies Readonly<Record<TextTable, TextStatements>>;
}

/** The statements of one text index. */
function prepareTextStatements(db: Database, table: TextTable) {
  return preparedOnUse({
    rank: () => cached((equalities) => db.prepare<Parameters, RankedRow>(rankSql(table, equalities))),
    add: () => db.prepare<[number | bigint, string]>(`INSERT INTO ${table} (rowid, body) VALUES (?, ?)`),
    remove: () =>
      db.prepare<[number, string]>(`INSERT INTO ${table} (${table}, rowid, body) VALUES ('delete', ?, ?)`),
  });
}

type TextStatements = ReturnType<typeof prepareTextStatements>;

/** The prepared statements of the store. */
export type StoreStatements = ReturnType<typeof prepareStatements>;

/** Conditions that SQL narrows by; the filter itself is checked in full afterwards, so more than these change nothing. */
export const MAX_EQUALITIES = 8;

function cached<T>(prepare: (equalities: number) => T): (equalities: number) => T {
  const statements = new Map<number, T>();
  return (equalities) => {
    const known = statements.get(equalities);
    if (known !== undefined) return known;
    const made = prepare(equalities);
    statements.set(equalities, made);
    return made;
  };
}
