/** The tables of the store file. */
import { CONFLICT_GROUP, FACT_STATE, IS_FACT, NEWNESS } from "./fact-sql.ts";
import type { DatabaseSchema, Migration } from "./migrate.ts";
import { splitTextIndex } from "./split-text-index.ts";
import { createVectors } from "./vector-schema.ts";

// `path` is the namespace, each label ended by ".", so that a prefix of labels is a range of the unique index.
// Items refer to it by number: a namespace is often longer than the value.
// `items_in_order` gives the items of a namespace in the order in which they were first put.
// `index_fields` is NULL for an item that is not in the text index; else the paths by which its text is found in `value`,
// because the index has no copy of the text (content='') and forgets a text only when it is told that text again.
// A contentless_delete table would not need to be told, but it keeps the words of deleted items until it is merged;
// this one, with secure-delete, removes them at once.
// Positions are kept (detail=full): bm25 has nothing to count without them.
const createItems: Migration = (db) => {
  db.exec(`
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
    CREATE INDEX items_in_order ON items (namespace_id, id);
    CREATE VIRTUAL TABLE item_text USING fts5 (
      body, content = '', tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
    );
    INSERT INTO item_text (item_text, rank) VALUES ('secure-delete', 1);
  `);
};

// The newest facts of a namespace without reading the others. Partial, so that nothing but facts pays for it: only of them
// `text` alone is indexed. A statement has to repeat the condition and the expression word for word to be given the index.
const createFactsByAge: Migration = (db) => {
  db.exec(
    `CREATE INDEX facts_by_age ON items (namespace_id, value ->> '$.updated_at') WHERE index_fields = '["text"]'`,
  );
};

// Beside their age: what says otherwise about the same, and how many are in which state, are found without reading the
// facts themselves. Equally new ones come in the order of their keys.
const createFactIndexes: Migration = (db) => {
  db.exec(`
    DROP INDEX facts_by_age;
    CREATE INDEX facts_by_age ON items (namespace_id, ${NEWNESS} DESC, key) WHERE ${IS_FACT};
    CREATE INDEX facts_by_group ON items (namespace_id, ${CONFLICT_GROUP}, ${NEWNESS} DESC, key) WHERE ${IS_FACT};
    CREATE INDEX facts_by_state ON items (namespace_id, ${FACT_STATE}) WHERE ${IS_FACT};
  `);
};

/** Schema of the store file; the application id is "Lily". */
export const STORE_SCHEMA: DatabaseSchema = {
  applicationId: 0x4c69_6c79,
  migrations: [createItems, createVectors, createFactsByAge, splitTextIndex, createFactIndexes],
};
