/** One ranking of what was found by its words and of what was found by its meaning. */

/**
 * All items of both, best first. What words found counts as a share of the best of it, because such scores have no scale; a
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
