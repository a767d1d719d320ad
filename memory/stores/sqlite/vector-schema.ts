/** The tables of vectors in the store file. Ordinary tables: a file with vectors opens where sqlite-vec is not there. */
import type { Migration } from "./migrate.ts";

// `items.vector_model` is the model whose vector of the item's text is up to date, NULL when there is none yet: what is
// still to do is a range of `items_by_vector_model`, whoever wrote the item. An item without text to embed has the model
// and no vector. The triggers make a vector go in the same transaction as the item or its text.
//
// `vector_signs` is the first pass: one bit a component, of a namespace side by side, so that a search reads the range
// of its namespaces and nothing else. Measured at 100k × 384 for the 200 nearest: 23 ms, where a vec0 table takes 55 ms
// (it merges the best k of each chunk), cannot take namespaces by prefix, and in a file would need the extension even
// for a backup check. `item_vectors` has the vectors themselves, for the exact order of what the first pass found.
export const createVectors: Migration = (db) => {
  db.exec(`
    ALTER TABLE items ADD COLUMN vector_model INTEGER;
    CREATE INDEX items_by_vector_model ON items (vector_model);
    CREATE TABLE vector_models (
      id INTEGER PRIMARY KEY,
      name TEXT NOT NULL,
      dimensions INTEGER NOT NULL,
      UNIQUE (name, dimensions)
    ) STRICT;
    CREATE TABLE item_vectors (
      item_id INTEGER PRIMARY KEY,
      namespace_id INTEGER NOT NULL,
      model_id INTEGER NOT NULL,
      text_hash BLOB NOT NULL,
      vector BLOB NOT NULL
    ) STRICT;
    CREATE TABLE vector_signs (
      model_id INTEGER NOT NULL,
      namespace_id INTEGER NOT NULL,
      item_id INTEGER NOT NULL,
      signs BLOB NOT NULL,
      PRIMARY KEY (model_id, namespace_id, item_id)
    ) STRICT, WITHOUT ROWID;
    CREATE TRIGGER vector_of_deleted_item AFTER DELETE ON items BEGIN
      DELETE FROM item_vectors WHERE item_id = old.id;
    END;
    CREATE TRIGGER vector_of_changed_item AFTER UPDATE OF vector_model ON items
    WHEN old.vector_model IS NOT NULL AND new.vector_model IS NULL BEGIN
      DELETE FROM item_vectors WHERE item_id = old.id;
    END;
    CREATE TRIGGER signs_of_deleted_vector AFTER DELETE ON item_vectors BEGIN
      DELETE FROM vector_signs
      WHERE model_id = old.model_id AND namespace_id = old.namespace_id AND item_id = old.item_id;
    END;
  `);
};
