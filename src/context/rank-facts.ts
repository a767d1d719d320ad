/** Ranks facts by what a user has just said and, with less weight, by what they said before it in the same conversation. */
import { rankTexts } from "#src/kernel/words.ts";

/** What facts are to fit. */
export interface Talk {
  /** The message that is answered. */
  readonly said: string;
  /** Messages before it, any order; none at the beginning of a conversation. */
  readonly earlier: readonly string[];
}

/** Facts that were found for each. */
export interface FoundFacts<T> {
  /** For the message that is answered, best first. */
  readonly bySaid: readonly T[];
  readonly byEarlier: readonly T[];
}

/**
 * Weight of a message before the last. Chosen on MADial-Bench, where 0.5 for each of three finds more among the first five than
 * weights that fall with each message; 0.3 and 1 are close to it.
 */
const EARLIER_WEIGHT = 0.5;
/**
 * What fits by its words needs this share of the best score. Chosen on MADial-Bench: 52 of 100 among the first five and 61 among the first ten with 9 facts given; at 0.2 two more, with 12.
 */
const CUT = 0.3;

/** How well each of them fits by its words, by id: 1 is the best of them. */
export function scoreFacts<T extends { readonly id: string; readonly text: string }>(
  found: FoundFacts<T>,
  { said, earlier }: Talk,
): ReadonlyMap<string, number> {
  const all = allOf(found);
  const scores = new Map<string, number>();
  const add = (text: string, weight: number): void => {
    for (const { item, score } of rankTexts(all, text, (fact) => fact.text))
      scores.set(item.id, (scores.get(item.id) ?? 0) + weight * score);
  };
  add(said, 1);
  for (const text of earlier) add(text, EARLIER_WEIGHT);
  const best = Math.max(...scores.values());
  return new Map([...scores].map(([id, score]) => [id, score / best]));
}

/** The facts that fit, best first: by their words those near the best; all that the last message found by meaning alone. */
export function rankFacts<T extends { readonly id: string; readonly text: string }>(
  found: FoundFacts<T>,
  talk: Talk,
  scores: ReadonlyMap<string, number> = scoreFacts(found, talk),
): readonly T[] {
  const bySaid = new Set(found.bySaid.map(({ id }) => id));
  const scoreOf = ({ id }: T): number => scores.get(id) ?? 0;
  const ranked = allOf(found).toSorted((a, b) => scoreOf(b) - scoreOf(a));
  return ranked.filter((fact) => (scores.has(fact.id) ? scoreOf(fact) >= CUT : bySaid.has(fact.id)));
}

function allOf<T extends { readonly id: string }>({ bySaid, byEarlier }: FoundFacts<T>): T[] {
  const found = new Set(bySaid.map(({ id }) => id));
  return [...bySaid, ...byEarlier.filter(({ id }) => !found.has(id))];
}
