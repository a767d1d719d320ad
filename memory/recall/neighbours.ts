/** Weighs the turns of one conversation by their neighbours: what was said around a hit is likely to be meant. Pure. */

/** Share of a neighbour's score, by distance; measured on LoCoMo, where wider or lopsided shares did no better. */
const NEIGHBOUR_SHARES: readonly number[] = [0.3, 0.15];

/**
 * Scores of the turns of one session, in the order of its turns, each with a share of those next to it:
 * `score(i) + 0.3·(score(i-1) + score(i+1)) + 0.15·(score(i-2) + score(i+2))`. A turn that was not found has 0. Never
 * give it turns of more than one session: the last turn of one says nothing about the first of the next.
 */
export function weighByNeighbours(
  scores: readonly number[],
  shares: readonly number[] = NEIGHBOUR_SHARES,
): number[] {
  return scores.map((own, index) =>
    shares.reduce((sum, share, nearness) => {
      const before = scores[index - nearness - 1] ?? 0;
      const after = scores[index + nearness + 1] ?? 0;
      return sum + share * (before + after);
    }, own),
  );
}
