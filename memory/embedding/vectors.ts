/** Vectors of questions, for which a person waits, and of the texts of a store that lack one. */
import type { Operation } from "@langchain/langgraph-checkpoint";
import { textsOf } from "#memory/stores/index-fields.ts";
import type { Clock } from "#src/kernel/clock.ts";
import { embedTexts, type Embedder } from "./embedder.ts";

/** Characters of a text that are embedded: about what the smallest windows in use take. */
const MAX_TEXT_CHARACTERS = 4_000;

/** The vector of a question; `undefined` when there is none in time. Never throws. */
export type QueryVectors = (text: string) => Promise<Float32Array | undefined>;

/** Longest wait for a vector; then the question is asked by its words alone. */
const DEADLINE_MS = 3_000;

/** Time after a failure in which the embedder is not asked. */
const REST_MS = 30_000;

/** A page of an answer asks the same question again; more than a few are not asked in a row. All are forgotten then. */
const REMEMBERED = 32;

/** Vectors of questions, by their text. */
export type Questions = ReadonlyMap<string, Float32Array>;

/**
 * Vectors of the questions among operations. Made before a transaction: nothing waits for an embedder in one.
 *
 * @param hasAny whether there is a vector to compare them with; asked only where something is asked
 */
export async function vectorsOfQuestions(
  operations: readonly Operation[],
  vectorOf: QueryVectors,
  hasAny: () => Promise<boolean>,
): Promise<Questions> {
  const texts = operations.flatMap((operation) =>
    "namespacePrefix" in operation && operation.query !== undefined ? [operation.query] : [],
  );
  const vectors = new Map<string, Float32Array>();
  if (texts.length === 0 || !(await hasAny())) return vectors;
  for (const text of new Set(texts)) {
    const vector = await vectorOf(text);
    if (vector !== undefined) vectors.set(text, vector);
  }
  return vectors;
}

/** Makes the source of vectors of questions. */
export function createQueryVectors(
  embedder: Embedder,
  { clock }: { readonly clock: Pick<Clock, "now"> },
): QueryVectors {
  // Promises, because one question asks in several places at once.
  const known = new Map<string, Promise<Float32Array | undefined>>();
  let restsUntil = -Infinity;
  const ask = async (text: string): Promise<Float32Array | undefined> => {
    const late = new Promise<Float32Array[]>((resolve) => void setTimeout(resolve, DEADLINE_MS, []).unref());
    const [vector] = await Promise.race([embedTexts(embedder, [text]), late]).catch(() => []);
    if (vector === undefined) {
      known.delete(text);
      restsUntil = clock.now() + REST_MS;
    }
    return vector;
  };
  return async (question) => {
    const text = question.slice(0, MAX_TEXT_CHARACTERS).trim().toWellFormed();
    const before = known.get(text);
    if (before !== undefined) return before;
    if (text === "" || clock.now() < restsUntil) return undefined;
    if (known.size >= REMEMBERED) known.clear();
    const asked = ask(text);
    known.set(text, asked);
    return asked;
  };
}

/** An item that lacks its vector. */
export interface DueItem {
  readonly id: number;
  /** JSON list of field paths. */
  readonly fields: string;
  /** JSON. */
  readonly value: string;
}

/** Where vectors are kept. */
export interface VectorTable {
  due(limit: number): Promise<readonly DueItem[]>;
  /** An item that was changed or deleted meanwhile is left as it is; `undefined`: the embedder does not take its text. */
  write(items: readonly DueItem[], vectors: readonly (Float32Array | undefined)[]): Promise<void>;
}

const TEXTS_AT_ONCE = 32;

/** Texts that are tried alone when some failed together, before the embedder is taken to be down. */
const TRIED_ALONE = 3;

/**
 * Makes at most `limit` vectors that are missing: the embedder is asked outside any transaction. A crash at any point
 * leaves items that lack one, no more.
 *
 * @returns whether some may be left
 * @throws {LilyError} `embedding_failed` when the embedder is down; what was made until then is kept.
 */
export async function fillVectors(table: VectorTable, embedder: Embedder, limit: number): Promise<boolean> {
  for (let handled = 0; handled < limit;) {
    const due = await table.due(Math.min(TEXTS_AT_ONCE, limit - handled));
    if (due.length === 0) return false;
    handled += due.length;
    await table.write(due, await vectorsOf(embedder, due.map(textToEmbed)));
  }
  return true;
}

/** One a text; `undefined` for a text that the embedder does not take. */
async function vectorsOf(
  embedder: Embedder,
  texts: readonly string[],
): Promise<(Float32Array | undefined)[]> {
  try {
    return await embedTexts(embedder, texts);
  } catch (error) {
    const vectors: (Float32Array | undefined)[] = [];
    for (const text of texts) {
      const [vector] = await embedTexts(embedder, [text]).catch(() => []);
      vectors.push(vector);
      const isDown = vectors.every((made) => made === undefined);
      if (isDown && vectors.length === Math.min(TRIED_ALONE, texts.length)) throw error;
    }
    return vectors;
  }
}

function textToEmbed({ value, fields }: DueItem): string {
  const text = textsOf(JSON.parse(value), JSON.parse(fields) as string[])
    .join("\n")
    .trim();
  return text.slice(0, MAX_TEXT_CHARACTERS).toWellFormed();
}
