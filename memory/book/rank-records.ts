/** The order in which found records are given: by the words they share with a question, then as the store found them. */
import { rankTexts, termsOf } from "#src/kernel/words.ts";
import { compareText } from "./rows.ts";
import type { SettledRecord } from "./settle.ts";

/**
 * Best match first. Scores of a store compare within one answer only, so all hits are ranked here by their words; what a
 * store found by other means (another form of a word, its meaning) follows in the store's order. A store that ignores
 * queries gives everything, of which what shares a word is a hit.
 *
 * @param isFound whether a store has found the record for this question, and not merely listed it
 */
export function rankRecords(
  settled: readonly SettledRecord[],
  query: string,
  isFound: (one: SettledRecord) => boolean,
): SettledRecord[] {
  const ranked = rankTexts(settled, query, ({ record }) => record.text).map(({ item }) => item);
  const listed = new Set(ranked);
  const others = settled.filter((one) => !listed.has(one) && isFound(one));
  if (ranked.length > 0 || others.length > 0 || termsOf(query).length > 0) return [...ranked, ...others];
  return bySubstring(settled, query);
}

/** For a query that is all stop words or marks, which words cannot find. */
function bySubstring(settled: readonly SettledRecord[], query: string): SettledRecord[] {
  const wanted = query.toLowerCase();
  return settled.filter(({ record }) => record.text.toLowerCase().includes(wanted));
}

/** Newest first. A record and what it replaced change at the same instant: the one that holds comes first. */
export function byNewest(a: SettledRecord, b: SettledRecord): number {
  const holdsFirst = Number(b.state === "current") - Number(a.state === "current");
  return (
    compareText(b.record.updated_at, a.record.updated_at) ||
    holdsFirst ||
    compareText(a.record.id, b.record.id)
  );
}
