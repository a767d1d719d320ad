/** An embedder for tests: the same text always has the same vector, and words of one meaning have one direction. */
import type { Embedder } from "../embedder.ts";

/** Groups of words that mean the same; every other word has a direction of its own. */
const MEANINGS: readonly (readonly string[])[] = [
  ["car", "automobile", "vehicle"],
  ["physician", "doctor"],
  ["dog", "puppy", "hound"],
];

/** A fake embedder, and what it was asked. */
export interface FakeEmbedder extends Embedder {
  /** The texts of each call so far. */
  readonly calls: string[][];
  /** What the next calls do instead of answering; `undefined` answers again. */
  fails: Error | undefined;
}

/** Makes one whose vectors have `dimensions` numbers. */
export function createFakeEmbedder(options: { model?: string; dimensions?: number } = {}): FakeEmbedder {
  const { model = "fake:words", dimensions = 64 } = options;
  const embedder: FakeEmbedder = {
    model,
    calls: [],
    fails: undefined,
    async embed(texts) {
      embedder.calls.push([...texts]);
      if (embedder.fails !== undefined) throw embedder.fails;
      return texts.map((text) => vectorOf(text, `${model}/${dimensions}`, dimensions));
    },
  };
  return embedder;
}

function vectorOf(text: string, seed: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    const meaning = MEANINGS.find((words) => words.includes(word))?.[0] ?? word;
    const random = randomOf(`${seed} ${meaning}`);
    for (let index = 0; index < dimensions; index += 1) vector[index] = (vector[index] ?? 0) + random() - 0.5;
  }
  return vector;
}

/** Numbers from 0 to 1 that depend on nothing but the text (FNV-1a, then a linear congruence). */
function randomOf(text: string): () => number {
  let state = 2_166_136_261;
  for (const character of text) state = Math.imul(state ^ (character.codePointAt(0) ?? 0), 16_777_619);
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
