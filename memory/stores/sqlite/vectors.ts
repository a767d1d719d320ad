/** The vectors of a store's texts: which are missing, how they are made, and which are near a question. */
import type { Database, Transaction } from "better-sqlite3";
import * as sqliteVec from "sqlite-vec";
import type { Embedder } from "#memory/embedding/embedder.ts";
import { fillVectors, type DueItem, type VectorTable } from "#memory/embedding/vectors.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { decodePath, type Namespace } from "../namespace.ts";
import { IN_RANGE, rangeOf } from "./item-table.ts";

/** Runs a short piece of work on the database, again while the file is locked. */
type RunOnDatabase = <T>(work: () => T) => Promise<T>;

/** The vectors of one embedder, of the texts by which items are found by words. */
export class Vectors {
  readonly #embedder: Embedder;
  readonly #isEmbedded: (namespace: Namespace) => boolean;
  readonly #sql: Statements;
  readonly #inTransaction: Transaction<(work: () => void) => void>;
  /** Length of a vector as it came last: a server may change its model under the same name. */
  #bytes: number | null = null;

  /** @throws {LilyError} `config_invalid` where sqlite-vec does not run. */
  constructor(db: Database, embedder: Embedder, isEmbedded: (namespace: Namespace) => boolean) {
    loadExtension(db);
    this.#embedder = embedder;
    this.#isEmbedded = isEmbedded;
    this.#sql = prepareStatements(db);
    this.#inTransaction = db.transaction((work: () => void) => work());
  }

  /** Whether there is any vector to compare a question with. */
  hasAny(): boolean {
    return this.#sql.any.get(this.#embedder.model) !== undefined;
  }

  /** Similarity (cosine) to a question of every item at and below a path that has a vector, by id. */
  similarities(question: Float32Array, path: string): Map<number, number> {
    const { from, to } = rangeOf(path);
    this.#bytes = question.byteLength;
    const rows = this.#sql.similarities.all(
      bytesOf(question),
      from,
      to,
      this.#embedder.model,
      question.byteLength,
    );
    return new Map(rows.map(({ id, similarity }) => [id, similarity]));
  }

  /** Makes vectors that are missing, as {@link fillVectors} says. */
  fill(limit: number, onDatabase: RunOnDatabase): Promise<{ readonly left: number }> {
    const table: VectorTable = {
      due: (most) => onDatabase(() => this.#due(most)),
      countDue: () => onDatabase(() => this.#countDue()),
      write: (items, vectors) => onDatabase(() => this.#write(items, vectors)),
    };
    return fillVectors(table, this.#embedder, limit);
  }

  #due(limit: number): DueItem[] {
    const due: DueItem[] = [];
    for (const id of this.#namespaces()) {
      due.push(...this.#sql.due.all(id, this.#embedder.model, this.#bytes, limit - due.length));
      if (due.length >= limit) break;
    }
    return due;
  }

  #countDue(): number {
    return this.#namespaces().reduce(
      (sum, id) => sum + (this.#sql.countDue.get(id, this.#embedder.model, this.#bytes) ?? 0),
      0,
    );
  }

  #namespaces(): number[] {
    const all = this.#sql.namespaces.all();
    return all.filter(({ path }) => this.#isEmbedded(decodePath(path))).map(({ id }) => id);
  }

  /** An item that was changed or deleted meanwhile is left as it is. */
  #write(items: readonly DueItem[], vectors: readonly (Float32Array | undefined)[]): void {
    this.#inTransaction.immediate(() => {
      for (const [at, { id, value, fields }] of items.entries()) {
        if (this.#sql.isPresent.get(id, value, fields) === undefined) continue;
        const vector = vectors[at];
        if (vector !== undefined) this.#bytes = vector.byteLength;
        this.#sql.put.run(id, this.#embedder.model, vector === undefined ? null : bytesOf(vector));
      }
    });
  }
}

/** The bytes of a vector, as `vec_distance_cosine` reads them. */
function bytesOf(vector: Float32Array): Buffer {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
}

// Of this model, and as long as its vectors are now; without a vector the model did not take the text.
const LACKS_VECTOR = `i.index_fields IS NOT NULL AND NOT EXISTS (SELECT 1 FROM vectors v
  WHERE v.item_id = i.id AND v.model = ? AND ifnull(length(v.vector) = ?, 1))`;

type Statements = ReturnType<typeof prepareStatements>;

function prepareStatements(db: Database) {
  return {
    namespaces: db.prepare<[], { readonly id: number; readonly path: string }>(
      "SELECT id, path FROM namespaces",
    ),
    any: db.prepare<[string], number>("SELECT 1 FROM vectors WHERE model = ? LIMIT 1").pluck(),
    similarities: db.prepare<
      [Buffer, string, string | Buffer, string, number],
      { readonly id: number; readonly similarity: number }
    >(
      `SELECT i.id, 1 - vec_distance_cosine(v.vector, ?) AS similarity
       FROM items i CROSS JOIN vectors v ON v.item_id = i.id
       WHERE ${IN_RANGE} AND v.model = ? AND length(v.vector) = ?`,
    ),
    due: db.prepare<[number, string, number | null, number], DueItem>(
      `SELECT i.id, i.index_fields AS fields, i.value FROM items i
       WHERE i.namespace_id = ? AND ${LACKS_VECTOR} ORDER BY i.id LIMIT ?`,
    ),
    countDue: db
      .prepare<[number, string, number | null], number>(
        `SELECT count(*) FROM items i WHERE i.namespace_id = ? AND ${LACKS_VECTOR}`,
      )
      .pluck(),
    isPresent: db
      .prepare<[number, string, string], number>(
        "SELECT 1 FROM items WHERE id = ? AND value = ? AND index_fields = ?",
      )
      .pluck(),
    put: db.prepare<[number, string, Buffer | null]>(
      "INSERT OR REPLACE INTO vectors (item_id, model, vector) VALUES (?, ?, ?)",
    ),
  };
}

function loadExtension(db: Database): void {
  try {
    sqliteVec.load(db);
  } catch (error) {
    throw new LilyError(
      "config_invalid",
      "sqlite-vec, which compares vectors, does not run on this machine",
      { next: "Set memory.embedder to none: search then goes by words.", cause: error },
    );
  }
}
