/** The order in which found records are given: by the words they share with a question, then as the store found them. */
import { rankTexts } from "#src/kernel/words.ts";
import { compareText } from "./rows.ts";
import type { RecordWithState } from "./record-states.ts";

/**
 * Best match first: by the words they share with the question, then, in the store's order, those of which the store gave
 * the id (another form of a word, its meaning). Where neither finds any, what holds the question as it is written.
 */
export function rankRecords(
  settled: readonly RecordWithState[],
  query: string,
  foundIds: readonly string[],
): RecordWithState[] {
  const ranked = rankTexts(settled, query, ({ record }) => record.text).map(({ item }) => item);
  const listed = new Set(ranked);
  const byId = new Map(settled.map((one) => [one.record.id, one]));
  const others = new Set(foundIds.flatMap((id) => byId.get(id) ?? []));
  const found = [...ranked, ...[...others].filter((one) => !listed.has(one))];
  return found.length > 0 ? found : bySubstring(settled, query);
}

/** Finds what is all stop words or marks, and a part of a word in scripts that do not space words. */
function bySubstring(settled: readonly RecordWithState[], query: string): RecordWithState[] {
  const wanted = query.toLowerCase();
  return settled.filter(({ record }) => record.text.toLowerCase().includes(wanted));
}

/** Newest first. A record and what it replaced change at the same instant: the one that holds comes first. */
export function byNewest(a: RecordWithState, b: RecordWithState): number {
  const holdsFirst = Number(b.state === "current") - Number(a.state === "current");
  return (
    compareText(b.record.updated_at, a.record.updated_at) ||
    holdsFirst ||
    compareText(a.record.id, b.record.id)
  );
}
