/** How many facts of an owner are in which state, where the store can tell without their being read. */
import type { RecordState } from "../retention/lifecycle.ts";
import { factCountIn, type FactCount } from "../stores/fact-search.ts";
import { gatherReads } from "../stores/gather-reads.ts";
import type { SearchOptions } from "../stores/direct-store.ts";
import { instantOf, type Desk } from "./desk.ts";
import { readReplacements } from "./replacements.ts";

/** Facts by state. */
export type StateCount = Readonly<Record<RecordState, number>>;

/**
 * The counts at and below each of `prefixes`. `undefined` where all has to be read to know: the store cannot count, an
 * item is no readable fact, or a replacement is under way.
 */
export async function factCounts(
  desk: Desk,
  owner: string,
  prefixes: readonly (readonly string[])[],
): Promise<StateCount[] | undefined> {
  const store = gatherReads(desk.store);
  const countAt: SearchOptions = { countAt: instantOf(desk), limit: 2 };
  const [notes, ...answers] = await Promise.all([
    readReplacements({ store }, owner),
    ...prefixes.map((prefix) => store.search([...prefix], countAt)),
  ]);
  const counts = answers.flatMap((items) => factCountIn(items) ?? []);
  const isKnown = counts.length === prefixes.length && counts.every(({ others }) => others === 0);
  return isKnown && notes.length === 0 ? counts : undefined;
}

/** The sum of some counts. */
export function sumOfCounts(counts: readonly StateCount[]): StateCount {
  const sum = (state: keyof FactCount & RecordState): number =>
    counts.reduce((total, count) => total + count[state], 0);
  return {
    current: sum("current"),
    expired: sum("expired"),
    archived: sum("archived"),
    superseded: sum("superseded"),
  };
}
