/** The tables of the store file. */
import type { Database } from "better-sqlite3";
import type { DatabaseSchema } from "./migrate.ts";
import { rebuildTextTables } from "./text-tables.ts";

// `path` is the namespace, each label ended by ".", so that a prefix of labels is a range of the unique index.
// Items refer to it by number: a namespace is often longer than the value.
// `items_in_order` gives the items of a namespace in the order in which they were first put.
// `index_fields` is NULL for an item that is not in a text index; else the paths by which its text is found in `value`.
const CREATE_ITEMS = `
  CREATE TABLE namespaces (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE) STRICT;
  CREATE TABLE items (
    id INTEGER PRIMARY KEY,
    namespace_id INTEGER NOT NULL,
    key TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    index_fields TEXT,
    value TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX items_by_key ON items (namespace_id, key);
  CREATE INDEX items_in_order ON items (namespace_id, id);`;

// An ordinary table, so that a file with vectors opens where sqlite-vec does not run. `vector` is NULL for a text that
// the model does not take.
const CREATE_VECTORS = `
  CREATE TABLE vectors (item_id INTEGER PRIMARY KEY, model TEXT NOT NULL, vector BLOB) STRICT;
  CREATE TRIGGER vector_of_deleted_item AFTER DELETE ON items BEGIN
    DELETE FROM vectors WHERE item_id = old.id;
  END;`;

// Until version 6 a turn was one text; the user's words and the reply to them are two now.
const PART_TURNS = `
  UPDATE items SET index_fields = '["messages[0].content","messages[1:].content"]'
  WHERE index_fields = '["messages[*].content"]'
    AND namespace_id IN (SELECT id FROM namespaces WHERE path >= 'history.' AND path < 'history/');`;

/** Schema of the store file; the application id is "Lily". */
export const STORE_SCHEMA: DatabaseSchema = {
  applicationId: 0x4c69_6c79,
  version: 7,
  upgrade(db, from) {
    if (from === 0) db.exec(CREATE_ITEMS + CREATE_VECTORS);
    else if (from < 6) upgradeItems(db);
    db.exec(PART_TURNS);
    rebuildTextTables(db);
  },
};

/** What versions 1 to 5 kept beside items and their text: indexes of facts, and vectors in two tables. */
function upgradeItems(db: Database): void {
  db.exec(`
    DROP TRIGGER IF EXISTS vector_of_deleted_item;
    DROP TRIGGER IF EXISTS vector_of_changed_item;
    DROP TRIGGER IF EXISTS signs_of_deleted_vector;
    DROP INDEX IF EXISTS items_by_vector_model;
    DROP INDEX IF EXISTS facts_by_age;
    DROP INDEX IF EXISTS facts_by_group;
    DROP INDEX IF EXISTS facts_by_state;
    ${CREATE_VECTORS}`);
  const hadVectors = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'vector_models'").get();
  if (hadVectors === undefined) return;
  db.exec(`
    INSERT INTO vectors (item_id, model, vector)
      SELECT v.item_id, m.name, v.vector FROM item_vectors v JOIN vector_models m ON m.id = v.model_id;
    DROP TABLE item_vectors;
    DROP TABLE vector_signs;
    DROP TABLE vector_models;
    ALTER TABLE items DROP COLUMN vector_model;`);
}
