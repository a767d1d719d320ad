/** The vectors of a store: which are to be made, how they are written, and which items are near a question. */
import type { Database, Transaction } from "better-sqlite3";
import type { Embedder } from "#memory/embedding/embedder.ts";
import { textsOf, type IndexFields } from "../index-fields.ts";
import { decodePath, type Namespace } from "../namespace.ts";
import type { PathRange } from "./store-statements.ts";
import { floatBytes, signBytes, textHash } from "./vector-bytes.ts";
import { prepareVectorStatements, type DueItem, type VectorStatements } from "./vector-statements.ts";

/** How a store makes vectors. */
export interface EmbedOptions {
  readonly embedder: Embedder;
  /** Field paths whose text is embedded, or false for none; by namespace if it is a function. Default: every string. */
  readonly fields?: IndexFields | ((namespace: Namespace) => IndexFields);
}

/** Characters of an item that are embedded: about what the smallest windows in use take. */
const MAX_TEXT_CHARACTERS = 4_000;

/** An item that was read, with its text. */
export interface DueText {
  readonly item: DueItem;
  /** Empty when the item has nothing to embed. */
  readonly text: string;
}

/** A text with its vector; `undefined` for an item that gets none. */
export interface MadeVector extends DueText {
  readonly vector: Float32Array | undefined;
}

/** The vectors of one store, of one embedder. */
export class VectorIndex {
  readonly embedder: Embedder;
  readonly #statements: VectorStatements;
  readonly #fields: (namespace: Namespace) => IndexFields;
  readonly #inTransaction: Transaction<(work: () => void) => void>;
  /** Length of the vectors that the embedder gave last: a server may change its model under the same name. */
  #dimensions: number | undefined;

  /** @throws {LilyError} `config_invalid` where sqlite-vec does not run. */
  constructor(db: Database, { embedder, fields = ["$"] }: EmbedOptions) {
    this.embedder = embedder;
    this.#statements = prepareVectorStatements(db);
    this.#fields = typeof fields === "function" ? fields : () => fields;
    this.#inTransaction = db.transaction((work: () => void) => work());
  }

  /** Whether there is any vector to compare a question with. */
  hasVectors(): boolean {
    const model = this.#model();
    return model !== undefined && this.#statements.hasVectors.get(model) !== undefined;
  }

  /** The text of a stored value that is embedded. */
  textOf(namespace: Namespace, json: string): string {
    const fields = this.#fields(namespace);
    if (fields === false) return "";
    const text = textsOf(JSON.parse(json), fields).join("\n").trim();
    return text.slice(0, MAX_TEXT_CHARACTERS).toWellFormed();
  }

  /** Up to `limit` items without a vector of this embedder for their present text. */
  due(limit: number): DueText[] {
    const model = this.#model() ?? 0;
    const found: DueItem[] = [];
    const { unmarked, lowerMarked, higherMarked } = this.#statements;
    found.push(...unmarked.all(limit));
    if (found.length < limit) found.push(...lowerMarked.all(model, limit - found.length));
    if (found.length < limit) found.push(...higherMarked.all(model, limit - found.length));
    return found.map((item) => ({ item, text: this.textOf(decodePath(item.path), item.value) }));
  }

  /** Number of items that {@link due} would give in the end. */
  countDue(): number {
    const model = this.#model() ?? 0;
    return this.#statements.countDue.get(model, model) ?? 0;
  }

  /** Stores vectors in one transaction; an item that was changed or deleted meanwhile is left as it is. */
  write(made: readonly MadeVector[]): void {
    this.#inTransaction.immediate(() => {
      const length = made.find(({ vector }) => vector !== undefined)?.vector?.length;
      const model = length === undefined ? this.#anyModel() : this.#modelOfLength(length);
      for (const one of made) this.#writeOne(one, model);
    });
  }

  /** Ids of the items in a range of namespaces whose vectors point most nearly where that of the question does. */
  nearest(question: Float32Array, { from, to }: PathRange, limit: number): number[] {
    this.#dimensions = question.length;
    const model = this.#model();
    if (model === undefined) return [];
    return this.#statements.nearest.all(model, from, to, signBytes(question), limit).map(({ id }) => id);
  }

  /** Exact similarities of those of `ids` that have an up-to-date vector. */
  similarities(question: Float32Array, ids: readonly number[]): Map<number, number> {
    const model = this.#model();
    if (model === undefined || ids.length === 0) return new Map();
    const rows = this.#statements.similarities.all(floatBytes(question), JSON.stringify(ids), model);
    return new Map(rows.map(({ id, similarity }) => [id, similarity]));
  }

  #writeOne({ item, text, vector }: MadeVector, model: number): void {
    const { isPresent, dropVector, mark, addVector, addSigns } = this.#statements;
    if (isPresent.get(item.id, item.namespaceId, item.value) === undefined) return;
    dropVector.run(item.id);
    mark.run(model, item.id);
    if (vector === undefined) return;
    addVector.run(item.id, item.namespaceId, model, textHash(text), floatBytes(vector));
    addSigns.run(model, item.namespaceId, item.id, signBytes(vector));
  }

  /** The model whose vectors hold, once there was one. */
  #model(): number | undefined {
    const models = this.#statements.modelsOf.all(this.embedder.model);
    if (this.#dimensions === undefined) return models.at(-1)?.id;
    return models.find(({ dimensions }) => dimensions === this.#dimensions)?.id;
  }

  #modelOfLength(length: number): number {
    this.#dimensions = length;
    return (
      this.#model() ?? Number(this.#statements.addModel.run(this.embedder.model, length).lastInsertRowid)
    );
  }

  // Before the first vector nobody knows how long they are: 0 says so, until the first one comes.
  #anyModel(): number {
    return this.#model() ?? this.#modelOfLength(0);
  }
}
