/** The SQL of vectors. Prepared only where there is an embedder, because it needs sqlite-vec. */
import type { Database } from "better-sqlite3";
import * as sqliteVec from "sqlite-vec";
import { LilyError } from "#src/kernel/errors.ts";

/** An item whose vector is to be made or checked. */
export interface DueItem {
  readonly id: number;
  readonly namespaceId: number;
  readonly path: string;
  readonly value: string;
}

/** An item that may be near a question. */
export interface Candidate {
  readonly id: number;
}

/** Similarity of an item's text to a question. */
export interface Similarity {
  readonly id: number;
  /** Cosine: 1 is the same direction, 0 and below have nothing in common. */
  readonly similarity: number;
}

// Without a model the nearest are looked for in nothing: `model_id = NULL` holds for no row.
const NEAREST = `SELECT item_id AS id FROM vector_signs
  WHERE model_id = ? AND namespace_id IN (SELECT id FROM namespaces WHERE path >= ? AND path < ?)
  ORDER BY vec_distance_hamming(vec_bit(signs), vec_bit(?)) LIMIT ?`;

// Items are not asked: what has a vector is up to date, by the triggers of the tables. To read them would double the pages.
const SIMILARITIES = `SELECT v.item_id AS id, 1 - vec_distance_cosine(v.vector, ?) AS similarity
  FROM json_each(?) wanted
  CROSS JOIN item_vectors v ON v.item_id = wanted.value
  WHERE v.model_id = ?`;

const DUE_ITEM = `SELECT i.id, i.namespace_id AS namespaceId, n.path, i.value
  FROM items i CROSS JOIN namespaces n ON n.id = i.namespace_id`;

/**
 * Loads sqlite-vec into the connection and prepares the statements.
 *
 * @throws {LilyError} `config_invalid` where the extension does not run.
 */
export function prepareVectorStatements(db: Database) {
  loadExtension(db);
  return {
    modelsOf: db.prepare<[string], { readonly id: number; readonly dimensions: number }>(
      "SELECT id, dimensions FROM vector_models WHERE name = ? ORDER BY id",
    ),
    addModel: db.prepare<[string, number]>("INSERT INTO vector_models (name, dimensions) VALUES (?, ?)"),
    hasVectors: db.prepare<[number], number>("SELECT 1 FROM vector_signs WHERE model_id = ? LIMIT 1").pluck(),
    nearest: db.prepare<[number, string, string | Buffer, Buffer, number], Candidate>(NEAREST),
    similarities: db.prepare<[Buffer, string, number], Similarity>(SIMILARITIES),

    unmarked: db.prepare<[number], DueItem>(`${DUE_ITEM} WHERE i.vector_model IS NULL LIMIT ?`),
    lowerMarked: db.prepare<[number, number], DueItem>(`${DUE_ITEM} WHERE i.vector_model < ? LIMIT ?`),
    higherMarked: db.prepare<[number, number], DueItem>(`${DUE_ITEM} WHERE i.vector_model > ? LIMIT ?`),
    countDue: db
      .prepare<[number, number], number>(
        `SELECT (SELECT count(*) FROM items WHERE vector_model IS NULL)
          + (SELECT count(*) FROM items WHERE vector_model < ?)
          + (SELECT count(*) FROM items WHERE vector_model > ?)`,
      )
      .pluck(),
    isPresent: db
      .prepare<[number, number, string], number>(
        "SELECT 1 FROM items WHERE id = ? AND namespace_id = ? AND value = ?",
      )
      .pluck(),

    mark: db.prepare<[number, number]>("UPDATE items SET vector_model = ? WHERE id = ?"),
    dropVector: db.prepare<[number]>("DELETE FROM item_vectors WHERE item_id = ?"),
    addVector: db.prepare<[number, number, number, Buffer, Buffer]>(
      "INSERT INTO item_vectors (item_id, namespace_id, model_id, text_hash, vector) VALUES (?, ?, ?, ?, ?)",
    ),
    addSigns: db.prepare<[number, number, number, Buffer]>(
      "INSERT INTO vector_signs (model_id, namespace_id, item_id, signs) VALUES (?, ?, ?, ?)",
    ),
  };
}

/** The prepared statements for vectors. */
export type VectorStatements = ReturnType<typeof prepareVectorStatements>;

function loadExtension(db: Database): void {
  try {
    sqliteVec.load(db);
  } catch (error) {
    throw new LilyError(
      "config_invalid",
      "sqlite-vec, which compares vectors, does not run on this machine",
      {
        next: "Set memory.embedder to none: search then goes by words.",
        cause: error,
      },
    );
  }
}
