/** Lists the newest facts by their number and a page of them, without reading all that is remembered. */
import { stateOf, type RecordState } from "../retention/lifecycle.ts";
import type { MemoryRecord } from "../record.ts";
import { gatherReads } from "../stores/gather-reads.ts";
import type { Desk } from "./desk.ts";
import { factCounts, sumOfCounts } from "./fact-counts.ts";
import { byNewest } from "./rank-records.ts";
import { searchRecords } from "./rows.ts";
import type { ShowResult } from "./types.ts";

/** Whoever asks for more wants everything. */
const MOST = 1_000;

/** What is listed. */
export interface Listing {
  readonly prefixes: readonly (readonly string[])[];
  readonly limit: number;
  readonly states: ReadonlySet<RecordState>;
}

/** The newest; `undefined` where everything has to be read for it. */
export async function showNewest(
  desk: Desk,
  owner: string,
  listing: Listing,
): Promise<ShowResult | undefined> {
  if (listing.limit > MOST) return undefined;
  const counts = await factCounts(desk, owner, listing.prefixes);
  if (counts === undefined) return undefined;
  const reading = { ...desk, store: gatherReads(desk.store) };
  const pages = await Promise.all(
    listing.prefixes.map((prefix) => newestIn(reading, owner, prefix, listing)),
  );
  if (pages.includes(undefined)) return undefined;
  const settled = pages.flatMap((records) =>
    (records ?? []).map((record) => ({ record, state: stateOf(record, desk.clock.now()) })),
  );
  const count = sumOfCounts(counts);
  const left = (state: RecordState): number => (listing.states.has(state) ? 0 : count[state]);
  return {
    records: settled
      .toSorted(byNewest)
      .slice(0, listing.limit)
      .map(({ record }) => record),
    total: [...listing.states].reduce((sum, state) => sum + count[state], 0),
    leftOut: { expired: left("expired"), archived: left("archived"), superseded: left("superseded") },
    unreadable: 0,
  };
}

/** The first of a namespace that are in one of the states; `undefined` when something between them is no record. */
async function newestIn(
  desk: Desk,
  owner: string,
  prefix: readonly string[],
  { limit, states }: Listing,
): Promise<MemoryRecord[] | undefined> {
  const found: MemoryRecord[] = [];
  const filter = filterOf(states);
  // At least some, so that a listing of a few does not ask for each anew behind those that have expired.
  const size = Math.max(limit, 16);
  for (let offset = 0; found.length < limit; offset += size) {
    const options = { newestFirst: true, limit: size, offset, ...(filter === undefined ? {} : { filter }) };
    const page = await searchRecords(desk.store, owner, prefix, options);
    if (page.records.length < page.items || !page.isOrdered) return undefined;
    found.push(...page.records.filter((record) => states.has(stateOf(record, desk.clock.now()))));
    if (page.items < size) break;
  }
  return found;
}

// What is superseded may be archived too, so without the mark of the first the second is no reason to leave it out.
function filterOf(states: ReadonlySet<RecordState>): Record<string, unknown> | undefined {
  if (states.has("superseded")) return undefined;
  return { superseded_by: null, ...(states.has("archived") ? {} : { archived: false }) };
}
