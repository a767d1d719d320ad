/** What our stores have in common: a batch is checked, its questions get their vectors, and it is run as a whole. */
import {
  BaseStore,
  type Item,
  type Operation,
  type OperationResults,
  type SearchItem,
} from "@langchain/langgraph-checkpoint";
import type { Embedder } from "#memory/embedding/embedder.ts";
import {
  createQueryVectors,
  fillVectors,
  vectorsOfQuestions,
  type DueItem,
  type Questions,
  type QueryVectors,
} from "#memory/embedding/vectors.ts";
import type { Clock } from "#src/kernel/clock.ts";
import type { IndexFields, StoreIndex } from "./index-fields.ts";
import {
  decodePath,
  type Namespace,
  planBatch,
  type BatchPlan,
  type ItemChange,
  type SearchQuery,
} from "./operations.ts";

/** A LangGraph store whose `batch` happens as a whole or not at all. The one that graph nodes are given throws on it. */
export abstract class AtomicStore extends BaseStore {}

type RunBatch = <Op extends Operation[]>(operations: Op) => Promise<OperationResults<Op>>;

/** A view of another store: every operation goes through one function, which may refuse it. */
export class StoreView extends AtomicStore {
  override readonly batch: RunBatch;

  constructor(run: RunBatch) {
    super();
    this.batch = run;
  }
}

/** Options of every store. */
export interface DurableStoreOptions {
  /** Gives `createdAt` and `updatedAt`. */
  readonly clock: Clock;
  /** LangGraph's `index` settings. */
  readonly index?: StoreIndex | undefined;
}

/** Which texts lack a vector. */
export interface DueQuery {
  readonly model: string;
  /** Length of the model's vectors, where it is known. */
  readonly bytes: number | null;
  readonly isEmbedded: (namespace: Namespace) => boolean;
  readonly limit: number;
}

/** An item and its vector, as 32-bit floats; null where the embedder does not take its text. */
export interface MadeVector extends DueItem {
  readonly model: string;
  readonly bytes: Buffer | null;
}

/** A batch on its way into a database. */
export interface BatchRun<Guard> extends BatchPlan {
  readonly questions: Questions;
  /** Called inside the transaction of a batch that writes, before anything is written; throws to refuse it. */
  readonly guard: Guard | undefined;
}

/**
 * A store in a database. A batch is one transaction: it happens as a whole or not at all, and its reads see the state
 * before its writes. What goes in and out are copies.
 *
 * Search gives the order of `InMemoryStore`, or the best match first when there is a `query`; `query` finds items that
 * share a word with an indexed field, and nothing when it has no word. Scores compare within one answer only; they are above
 * 0. With `index.embed`, and once {@link fillVectors} has made vectors, `query` finds also what means the same in other
 * words, and a score is the share of the best score by words, plus the cosine: 0 to 2. Where the embedder gives no vector
 * in time, and in a batch that also writes, which must not wait for it, the answer is that by words alone.
 */
export abstract class DurableStore<Guard> extends AtomicStore {
  protected readonly clock: Clock;
  protected readonly embedder: Embedder | undefined;
  readonly #index: Required<Pick<StoreIndex, "fields" | "isEmbedded">>;
  readonly #queryVectors: QueryVectors | undefined;
  /** Length of a vector as it came last: a server may change its model under the same name. */
  #bytes: number | null = null;

  constructor({ clock, index = {} }: DurableStoreOptions) {
    super();
    const { fields = ["$"], isEmbedded = () => true, embed } = index;
    this.clock = clock;
    this.embedder = embed;
    this.#index = { fields, isEmbedded };
    this.#queryVectors = embed && createQueryVectors(embed, { clock });
  }

  override batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    return this.#execute(operations);
  }

  /** This store, with writes that happen only if `guard` does not throw. Guard and write are one transaction. */
  withGuard(guard: Guard): AtomicStore {
    return new StoreView((operations) => this.#execute(operations, guard));
  }

  /**
   * Makes vectors for at most `limit` items that lack one: they are new, their text or the embedder has changed. Without
   * an embedder there is nothing to do.
   *
   * @returns whether some may be left
   * @throws {LilyError} `embedding_failed` when the embedder is down; what was made until then is kept.
   */
  async fillVectors(limit: number): Promise<boolean> {
    const { embedder } = this;
    if (embedder === undefined) return false;
    const { model } = embedder;
    const due = (most: number) =>
      this.dueVectors({ model, bytes: this.#bytes, isEmbedded: this.#index.isEmbedded, limit: most });
    const write = (items: readonly DueItem[], vectors: readonly (Float32Array | undefined)[]) => {
      const bytes = vectors.map((vector) => (vector === undefined ? null : bytesOf(vector)));
      this.#bytes = bytes.find((one) => one !== null)?.byteLength ?? this.#bytes;
      return this.putVectors(items.map((item, at) => ({ ...item, model, bytes: bytes[at] ?? null })));
    };
    return fillVectors({ due, write }, embedder, limit);
  }

  async #execute<Op extends Operation[]>(operations: Op, guard?: Guard): Promise<OperationResults<Op>> {
    const plan = planBatch(operations);
    const questions = plan.changes.length === 0 ? await this.#questionsIn(operations) : new Map();
    return (await this.run({ ...plan, questions, guard })) as OperationResults<Op>;
  }

  async #questionsIn(operations: readonly Operation[]): Promise<Questions> {
    const { embedder } = this;
    if (embedder === undefined || this.#queryVectors === undefined) return new Map();
    const questions = await vectorsOfQuestions(operations, this.#queryVectors, () =>
      this.hasVectors(embedder.model),
    );
    for (const { byteLength } of questions.values()) this.#bytes = byteLength;
    return questions;
  }

  protected fieldsOf({ index, namespace }: ItemChange): IndexFields {
    const { fields } = this.#index;
    return index ?? (typeof fields === "function" ? fields(namespace) : fields);
  }

  /** Runs a batch in one transaction. @returns what its reads give */
  protected abstract run(batch: BatchRun<Guard>): Promise<unknown[]>;
  protected abstract hasVectors(model: string): Promise<boolean>;
  protected abstract dueVectors(query: DueQuery): Promise<readonly DueItem[]>;
  /** Keeps vectors; an item that was changed or deleted meanwhile is left as it is. */
  protected abstract putVectors(made: readonly MadeVector[]): Promise<void>;
}

/** The bytes of a vector, as databases keep it and sqlite-vec reads it. */
export function bytesOf(vector: Float32Array): Buffer {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
}

/** The columns of an item. */
export interface StoredItemRow {
  readonly path: string;
  readonly key: string;
  /** JSON. */
  readonly value: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The item of a row. */
export function toItem(row: StoredItemRow): Item {
  return {
    namespace: decodePath(row.path),
    key: row.key,
    value: JSON.parse(row.value) as Record<string, unknown>,
    createdAt: new Date(row.createdAt),
    updatedAt: new Date(row.updatedAt),
  };
}

/** The items of a page that pass the filter; rows are read only as far as that demands. */
export function page<Row>(
  rows: Iterable<Row>,
  { filter, limit, offset }: SearchQuery,
  read: (row: Row) => SearchItem | undefined,
): SearchItem[] {
  const items: SearchItem[] = [];
  let skipped = 0;
  for (const row of rows) {
    if (items.length >= limit) break;
    const item = read(row);
    if (item === undefined || filter?.(item.value) === false) continue;
    if (skipped < offset) skipped += 1;
    else items.push(item);
  }
  return items;
}

/**
 * One ranking of what was found by its words and of what was found by its meaning: all items of both, best first. What words found counts as a share of the best of it, because such scores have no scale; a
 * cosine has one and counts as it is: over its best, a question that nothing resembles would make noise as good as a find.
 * A score that is not above 0 counts as nothing, and what has nothing else is left out.
 *
 * Measured on LoCoMo and REALTALK against reciprocal rank fusion, which loses more than it gains there: a weak arm moves
 * every rank, but adds little where the words are already clear.
 */
export function fuse<Id>(
  byWords: ReadonlyMap<Id, number>,
  byMeaning: ReadonlyMap<Id, number>,
): { readonly id: Id; readonly score: number }[] {
  let best = 0;
  for (const score of byWords.values()) best = Math.max(best, score);
  const sums = new Map<Id, number>();
  for (const [id, score] of byWords) if (score > 0) sums.set(id, score / best);
  for (const [id, score] of byMeaning) if (score > 0) sums.set(id, (sums.get(id) ?? 0) + score);
  return [...sums].map(([id, score]) => ({ id, score })).sort((a, b) => b.score - a.score);
}
