/** Search by words and by meaning at once: the candidates of both, with both scores, fused into one order. */
import { fuse, type Fused } from "#memory/recall/fuse.ts";
import type { PathRange, RankedRow } from "./store-statements.ts";
import type { VectorIndex } from "./vector-index.ts";

/** A question with its vector, and where to look. */
export interface HybridQuestion {
  readonly vector: Float32Array;
  readonly range: PathRange;
  /** Whether a filter comes after, which may drop most of what is near. */
  readonly isFiltered: boolean;
}

/** Nearest by their signs that are compared exactly: of the true ten nearest these hold nearly all. */
export const CANDIDATES = 1_000;

/** Found by words and compared exactly too; what the words rank lower has its score by words alone. */
export const WORD_CANDIDATES = 200;

/** More where a filter comes after; in a namespace with fewer items that is everything. */
const FILTERED_CANDIDATES = 2_000;

/**
 * The items that the words found (`lexical`, best first) and those near in meaning, best first. Each has
 * `words/best words + cosine`, so 0 to 2. Whatever the words found is in it.
 */
export function fuseWithVectors(
  index: VectorIndex,
  lexical: readonly RankedRow[],
  { vector, range, isFiltered }: HybridQuestion,
): Fused<number>[] {
  const near = index.nearest(vector, range, isFiltered ? FILTERED_CANDIDATES : CANDIDATES);
  const words = lexical.slice(0, WORD_CANDIDATES).map(({ id }) => id);
  const similarities = index.similarities(vector, [...new Set([...words, ...near])]);
  return fuse([
    { scores: new Map(lexical.map(({ id, score }) => [id, score])) },
    { scores: similarities, maximum: 1 },
  ]);
}
