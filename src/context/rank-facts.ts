/** Ranks facts by what a user has just said and, with less weight, by what they said before it in the same conversation. */
import { rankTexts, termsOf } from "#src/kernel/words.ts";

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
/** A fact that fits only what was said before shares so many words with it, or so much of its own. */
const SHARED_WORDS = 2;
const SHARED_PART = 1 / 3;
/** Most facts that fit only what was said before. */
const MAX_EARLIER = 6;

/** The facts that fit, best first. All that was found by the last message is among them; of the rest, what fits well. */
export function rankFacts<T extends { readonly id: string; readonly text: string }>(
  { bySaid, byEarlier }: FoundFacts<T>,
  { said, earlier }: Talk,
): readonly T[] {
  if (earlier.length === 0 || bySaid.length + byEarlier.length === 0) return bySaid;
  const found = new Set(bySaid.map(({ id }) => id));
  const fitsEarlier = fitting(earlier);
  const others = byEarlier.filter(({ id, text }) => !found.has(id) && fitsEarlier(text));
  const all = [...bySaid, ...others];
  const scores = new Map<string, number>();
  const add = (text: string, weight: number): void => {
    for (const { item, score } of rankTexts(all, text, (fact) => fact.text))
      scores.set(item.id, (scores.get(item.id) ?? 0) + weight * score);
  };
  add(said, 1);
  for (const text of earlier) add(text, EARLIER_WEIGHT);
  const scoreOf = ({ id }: T): number => scores.get(id) ?? 0;
  const ranked = all.toSorted((a, b) => scoreOf(b) - scoreOf(a));
  const late = new Set(ranked.filter(({ id }) => !found.has(id)).slice(MAX_EARLIER));
  return ranked.filter((fact) => !late.has(fact));
}

function fitting(earlier: readonly string[]): (text: string) => boolean {
  const terms = new Set(earlier.flatMap(termsOf));
  return (text) => {
    const own = new Set(termsOf(text));
    const shared = [...own].filter((term) => terms.has(term)).length;
    return shared > 0 && (shared >= SHARED_WORDS || shared >= own.size * SHARED_PART);
  };
}
