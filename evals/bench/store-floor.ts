/** The floor of the store benchmark: the same questions, asked of better-sqlite3 and FTS5 without a store around them. */
import Database from "better-sqlite3";
import * as sqliteVec from "sqlite-vec";
import { bytesOf } from "#memory/stores/sqlite/vectors.ts";
import { toMatchQuery } from "#memory/stores/sqlite/text-query.ts";
import type { BenchRecord } from "./store-data.ts";

const SCHEMA = `
  CREATE TABLE records (id INTEGER PRIMARY KEY, ns TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, UNIQUE (ns, key));
  CREATE INDEX records_in_order ON records (ns, id);
  CREATE VIRTUAL TABLE words USING fts5 (body, content = '', tokenize = "porter unicode61 remove_diacritics 2");
  CREATE TABLE vectors (id INTEGER PRIMARY KEY, ns TEXT NOT NULL, vector BLOB NOT NULL);
`;

/** Everything below a namespace: the bytes after the separator sort before the next. */
const IN = "r.ns >= ? AND r.ns < ?";

/** Opens the floor in a file, with the settings of the store's own. */
export function openFloor(file: string) {
  const db = new Database(file);
  for (const pragma of [
    "page_size = 8192",
    "journal_mode = WAL",
    "synchronous = NORMAL",
    "secure_delete = ON",
  ])
    db.pragma(pragma);
  sqliteVec.load(db);
  db.exec(SCHEMA);
  const statements = {
    add: db.prepare("INSERT INTO records (ns, key, value) VALUES (?, ?, ?)"),
    addWords: db.prepare("INSERT INTO words (rowid, body) VALUES (?, ?)"),
    addVector: db.prepare("INSERT INTO vectors (id, ns, vector) VALUES (?, ?, ?)"),
    get: db.prepare<[string, string], string>("SELECT value FROM records WHERE ns = ? AND key = ?").pluck(),
    list: db
      .prepare<[string, string, string], string>(
        `SELECT value FROM records r WHERE ${IN} AND value ->> '$.kind' = ? ORDER BY ns, id LIMIT 10`,
      )
      .pluck(),
    search: db
      .prepare<[string, string, string], string>(
        `SELECT value FROM words CROSS JOIN records r ON r.id = words.rowid
         WHERE words MATCH ? AND ${IN} ORDER BY bm25(words), r.id LIMIT 10`,
      )
      .pluck(),
    searchAlone: db
      .prepare<[string], number>("SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT 10")
      .pluck(),
    exact: db
      .prepare<[string, string, Buffer], number>(
        `SELECT r.id FROM vectors r WHERE ${IN} ORDER BY vec_distance_cosine(r.vector, ?) LIMIT 10`,
      )
      .pluck(),
  };
  const put = db.transaction(({ namespace, key, value }: BenchRecord) => {
    const { lastInsertRowid } = statements.add.run(nsOf(namespace), key, JSON.stringify(value));
    statements.addWords.run(lastInsertRowid, `${value.text}\n${value.kind}`);
    return lastInsertRowid;
  });
  return {
    put: (record: BenchRecord) => put(record),
    putAll: (records: readonly BenchRecord[]) => db.transaction(() => records.map((record) => put(record)))(),
    addVectors: db.transaction(
      (rows: readonly { id: number; namespace: string[]; vector: Float32Array }[]) => {
        for (const { id, namespace, vector } of rows)
          statements.addVector.run(id, nsOf(namespace), bytesOf(vector));
      },
    ),
    get: (namespace: string[], key: string) => parsed(statements.get.get(nsOf(namespace), key)),
    list: (prefix: string[], kind: string) => statements.list.all(...rangeOf(prefix), kind).map(parsed),
    search: (prefix: string[], text: string) =>
      statements.search.all(toMatchQuery(text) ?? "", ...rangeOf(prefix)).map(parsed),
    searchAlone: (text: string) => statements.searchAlone.all(toMatchQuery(text) ?? ""),
    exact: (prefix: string[], vector: Float32Array) =>
      statements.exact.all(...rangeOf(prefix), bytesOf(vector)),
    close: () => void db.close(),
  };
}

/** The floor. */
export type Floor = ReturnType<typeof openFloor>;

const nsOf = (namespace: readonly string[]): string => namespace.map((label) => `${label}.`).join("");

function rangeOf(prefix: readonly string[]): [string, string] {
  const ns = nsOf(prefix);
  return [ns, `${ns.slice(0, -1)}/`];
}

function parsed(json: string | undefined): unknown {
  return json === undefined ? undefined : JSON.parse(json);
}
