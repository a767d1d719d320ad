/** Makes the vectors that are missing: reads a few items, asks the embedder outside any transaction, writes them. */
import { embedTexts, type Embedder } from "#memory/embedding/embedder.ts";
import type { DueText, MadeVector, VectorIndex } from "./vector-index.ts";

/** What a call of `fillVectors` did. */
export interface FillReport {
  /** Items that have a vector now. */
  readonly embedded: number;
  /** Items that have no text to embed. */
  readonly withoutText: number;
  /** Items whose text the embedder does not take; they are found by words, and tried again when they change. */
  readonly refused: number;
  /** Items that still lack one. */
  readonly left: number;
}

/** Runs a short piece of work on the database, again while the file is locked. */
export type RunOnDatabase = <T>(work: () => T) => Promise<T>;

const ITEMS_AT_ONCE = 32;

/** Texts that are tried alone when a batch failed, before the embedder is taken to be down. */
const TRIED_ALONE = 3;

/**
 * Goes through at most `limit` items that lack a vector. A crash at any point leaves items that lack one, no more.
 *
 * @throws {LilyError} `embedding_failed` when the embedder is down; what was made until then is kept.
 */
export async function fillMissing(
  index: VectorIndex,
  limit: number,
  onDatabase: RunOnDatabase,
): Promise<FillReport> {
  const report = { embedded: 0, withoutText: 0, refused: 0 };
  for (let handled = 0; handled < limit;) {
    const due = await onDatabase(() => index.due(Math.min(ITEMS_AT_ONCE, limit - handled)));
    if (due.length === 0) break;
    handled += due.length;
    const made = await makeVectors(index.embedder, due);
    await onDatabase(() => index.write(made));
    for (const { text, vector } of made) report[kindOf(text, vector)] += 1;
  }
  return { ...report, left: await onDatabase(() => index.countDue()) };
}

function kindOf(text: string, vector: Float32Array | undefined): "embedded" | "withoutText" | "refused" {
  if (vector !== undefined) return "embedded";
  return text === "" ? "withoutText" : "refused";
}

async function makeVectors(embedder: Embedder, due: readonly DueText[]): Promise<MadeVector[]> {
  const texts = due.map(({ text }) => text).filter((text) => text !== "");
  const vectors = await embedTexts(embedder, texts).catch((error: unknown) =>
    oneByOne(embedder, texts, error),
  );
  let next = 0;
  return due.map((one) => {
    const vector = one.text === "" ? undefined : vectors[next];
    if (one.text !== "") next += 1;
    return { ...one, vector };
  });
}

/** One text that the embedder refuses must not keep the others from their vectors. */
async function oneByOne(
  embedder: Embedder,
  texts: readonly string[],
  error: unknown,
): Promise<(Float32Array | undefined)[]> {
  const vectors: (Float32Array | undefined)[] = [];
  for (const text of texts) {
    const [vector] = await embedTexts(embedder, [text]).catch(() => []);
    vectors.push(vector);
    const isDown = vectors.every((made) => made === undefined);
    if (isDown && vectors.length === Math.min(TRIED_ALONE, texts.length)) throw error;
  }
  return vectors;
}
