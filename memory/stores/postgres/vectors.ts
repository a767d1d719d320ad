/** The vectors of a store's texts in PostgreSQL, compared in this process: no extension of the server is needed. */
import { fillVectors, type DueItem } from "#memory/embedding/vectors.ts";
import type { Embedder } from "#memory/embedding/embedder.ts";
import { decodePath, type Namespace } from "../namespace.ts";
import type { Queryable, storeStatements } from "./store-tables.ts";

interface VectorsOptions {
  readonly embedder: Embedder;
  readonly isEmbedded: (namespace: Namespace) => boolean;
  readonly sql: ReturnType<typeof storeStatements>;
}

/** The vectors of one embedder, of the texts by which items are found by words. */
export class Vectors {
  readonly #embedder: Embedder;
  readonly #isEmbedded: (namespace: Namespace) => boolean;
  readonly #sql: VectorsOptions["sql"];
  /** Length of a vector as it came last: a server may change its model under the same name. */
  #bytes: number | null = null;

  constructor({ embedder, isEmbedded, sql }: VectorsOptions) {
    this.#embedder = embedder;
    this.#isEmbedded = isEmbedded;
    this.#sql = sql;
  }

  /** Whether there is any vector to compare a question with. */
  async hasAny(client: Queryable): Promise<boolean> {
    return (await client.query(this.#sql.anyVector, [this.#embedder.model])).rowCount === 1;
  }

  /** Similarity (cosine) to a question of every item in a range of paths that has a vector, by id. */
  async similarities(
    client: Queryable,
    question: Float32Array,
    range: readonly [from: string, to: string],
  ): Promise<Map<number, number>> {
    this.#bytes = question.byteLength;
    const values = [...range, this.#embedder.model, question.byteLength];
    const { rows } = await client.query<{ id: number; vector: Buffer }>(this.#sql.vectors, values);
    return new Map(rows.map(({ id, vector }) => [id, cosine(question, vector)]));
  }

  /** Makes vectors that are missing, as {@link fillVectors} says. */
  fill(client: Queryable, limit: number): Promise<{ readonly left: number }> {
    return fillVectors(
      {
        due: (most) => this.#due(client, most),
        countDue: async () => (await this.#due(client, null)).length,
        write: async (items, vectors) => {
          for (const [at, { id, value, fields }] of items.entries()) {
            const vector = vectors[at];
            if (vector !== undefined) this.#bytes = vector.byteLength;
            const bytes = vector === undefined ? null : bytesOf(vector);
            await client.query(this.#sql.putVector, [id, value, fields, this.#embedder.model, bytes]);
          }
        },
      },
      this.#embedder,
      limit,
    );
  }

  async #due(client: Queryable, limit: number | null): Promise<DueItem[]> {
    const { rows } = await client.query<{ path: string }>(this.#sql.paths, ["", ""]);
    const paths = rows.map(({ path }) => path).filter((path) => this.#isEmbedded(decodePath(path)));
    const values = [paths, this.#embedder.model, this.#bytes, limit];
    return (await client.query<DueItem>(this.#sql.due, values)).rows;
  }
}

const FLOAT_BYTES = Float32Array.BYTES_PER_ELEMENT;

function bytesOf(vector: Float32Array): Buffer {
  const bytes = Buffer.alloc(vector.byteLength);
  for (const [at, component] of vector.entries()) bytes.writeFloatLE(component, at * FLOAT_BYTES);
  return bytes;
}

/** Of two vectors of length 1. */
function cosine(question: Float32Array, vector: Buffer): number {
  return question.reduce((sum, component, at) => sum + component * vector.readFloatLE(at * FLOAT_BYTES), 0);
}
