/** Reading for a turn: what fits a question, and the newest of each domain, without reading all that is remembered. */
import { termsOf } from "#src/kernel/words.ts";
import { assertOwner } from "../namespaces.ts";
import { DOMAINS, type Domain, type MemoryRecord } from "../record.ts";
import { stateOf } from "../retention/lifecycle.ts";
import type { Desk } from "./desk.ts";
import { placesOf } from "./places.ts";
import { byNewest, rankRecords } from "./rank-records.ts";
import { readReplacements, replacing, type Replacement } from "./replacements.ts";
import { readRecords, searchRecords, type RecordPage } from "./rows.ts";
import { settle, type SettledRecord } from "./settle.ts";
import type { Recalled, RecallOptions, Who } from "./types.ts";

/**
 * A namespace with at most as many facts is read whole and ranked here: that takes a millisecond or two, whatever lies beside it, where
 * the store's index of words takes longer with each turn of conversation that it holds too.
 */
const SMALL = 64;

/** Facts in a page; the next ones are read where too many of one have expired. */
const PAGES = [16, 64, 256];

// Expiry is compared when a fact is read: the mark that a filter could go by is set by a job, which may come late.
const MAY_HOLD = { superseded_by: null, archived: false };

/** The beginning of a namespace. */
interface Head {
  readonly prefix: readonly string[];
  readonly records: readonly MemoryRecord[];
  readonly isWhole: boolean;
}

/** Recalls; see `MemoryBook.recall`. */
export async function recall(desk: Desk, who: Who, options: RecallOptions): Promise<Recalled> {
  assertOwner(who.owner);
  const { limit, byMeaning = false } = options;
  const query = topicOf(options.query);
  const earlier = topicOf(options.earlier ?? "");
  // At once, so that a store can be asked for all of it in one go.
  const [heads, notes] = await Promise.all([headsOf(desk, who, options), readReplacements(desk, who.owner)]);
  const large = heads.filter(({ records, isWhole }) => records.length > 0 && (!isWhole || byMeaning));
  const find = (words: string): Promise<MemoryRecord[]> =>
    words === "" ? Promise.resolve([]) : findIn(desk, who.owner, large, { query: words, limit });
  const [foundNow, foundEarlier] = await Promise.all([find(query), find(earlier)]);
  const found = [...foundNow, ...foundEarlier];
  const ranked = new Set(found.map(({ id }) => id));
  const listed = new Set(
    heads.flatMap(({ isWhole, records }) => (isWhole ? records.map(({ id }) => id) : [])),
  );
  const records = [...heads.flatMap((head) => head.records), ...found];
  const current = await holding(desk, who.owner, { records, notes });
  const candidates = current.filter(({ record: { id } }) => ranked.has(id) || listed.has(id));
  const fitting = (words: string, hits: readonly MemoryRecord[]): MemoryRecord[] => {
    const ids = new Set(hits.map(({ id }) => id));
    const best = words === "" ? [] : rankRecords(candidates, words, ({ record }) => ids.has(record.id));
    return best.slice(0, limit).map(({ record }) => record);
  };
  return {
    relevant: fitting(query, foundNow),
    byEarlier: fitting(earlier, foundEarlier),
    newest: newestByDomain(current, options),
  };
}

/** Whether there may be anything to recall; see `MemoryBook.hasAny`. */
export async function hasAny(desk: Desk, who: Who, options: Pick<RecallOptions, "task">): Promise<boolean> {
  assertOwner(who.owner);
  const prefixes = await prefixesOf(desk, who, options);
  const first = await Promise.all(prefixes.map((prefix) => desk.store.search(prefix, { limit: 1 })));
  return first.some((items) => items.length > 0);
}

/** Words that carry no topic fit everything. */
function topicOf(text: string): string {
  return termsOf(text).length === 0 ? "" : text.trim();
}

async function headsOf(desk: Desk, who: Who, options: RecallOptions): Promise<Head[]> {
  const prefixes = await prefixesOf(desk, who, options);
  return Promise.all(prefixes.map((prefix) => headOf(desk, who.owner, prefix, options)));
}

/** Personality memory, and that of one task where there is one. */
async function prefixesOf(desk: Desk, who: Who, { task }: Pick<RecallOptions, "task">): Promise<string[][]> {
  const own = await placesOf(desk, who, {});
  return task === undefined ? own : [...own, ...(await placesOf(desk, who, { task }))];
}

/** The newest facts of a namespace; all of it when it is small, or when the store cannot give the newest first. */
async function headOf(
  desk: Desk,
  owner: string,
  prefix: readonly string[],
  { newest = {} }: RecallOptions,
): Promise<Head> {
  const search = (limit: number, offset = 0): Promise<RecordPage> =>
    searchRecords(desk.store, owner, prefix, { filter: MAY_HOLD, newestFirst: true, limit, offset });
  const first = await pageBy(desk, Math.max(...Object.values(newest), 0), search);
  if (first.isWhole) return { prefix, ...first };
  if (!first.isOrdered) {
    const all = await readRecords(desk.store, owner, prefix, { filter: MAY_HOLD });
    return { prefix, records: all.records, isWhole: true };
  }
  if ((await search(1, SMALL)).items > 0) return { prefix, ...first };
  return { prefix, records: (await search(SMALL)).records, isWhole: true };
}

/** What the store finds for a question in each of these namespaces, best first in each. */
async function findIn(
  desk: Desk,
  owner: string,
  heads: readonly Head[],
  { query, limit }: Pick<RecallOptions, "query" | "limit">,
): Promise<MemoryRecord[]> {
  const pages = await Promise.all(
    heads.map(({ prefix }) =>
      pageBy(desk, limit, (rows) =>
        searchRecords(desk.store, owner, prefix, { filter: MAY_HOLD, query, limit: rows }),
      ),
    ),
  );
  // A store that ignores questions has found nothing: it has listed what comes first.
  return pages.flatMap(({ records, isOrdered }) => (isOrdered ? records : []));
}

/** Grows the page until `wanted` of its facts have not expired, or there are no more. */
async function pageBy(
  desk: Desk,
  wanted: number,
  search: (limit: number) => Promise<RecordPage>,
): Promise<RecordPage & { readonly isWhole: boolean }> {
  let page: RecordPage = { records: [], items: 0, isOrdered: false };
  for (const size of PAGES) {
    page = await search(Math.max(size, wanted));
    const isWhole = page.items < Math.max(size, wanted);
    const held = page.records.filter((record) => stateOf(record, desk.clock.now()) === "current").length;
    if (isWhole || !page.isOrdered || held >= wanted) return { ...page, isWhole };
  }
  return { ...page, isWhole: false };
}

/** Those that hold, each once. A note names records whose replacement is there, and whose mark is not. */
async function holding(
  desk: Desk,
  owner: string,
  { records, notes }: { readonly records: readonly MemoryRecord[]; readonly notes: readonly Replacement[] },
): Promise<SettledRecord[]> {
  const byId = new Map(records.map((record) => [record.id, record]));
  const concerned = notes.filter(({ replaced }) => replaced.some((id) => byId.has(id)));
  const others = await Promise.all(concerned.map((note) => replacing(desk, owner, note)));
  const beside = others.filter((other) => other !== undefined && !byId.has(other.id));
  const settled = settle([...byId.values(), ...beside.flatMap((other) => other ?? [])], desk.clock.now());
  return settled.filter(({ record, state }) => state === "current" && byId.has(record.id));
}

function newestByDomain(
  current: readonly SettledRecord[],
  { newest = {} }: RecallOptions,
): Recalled["newest"] {
  const sorted = current.toSorted(byNewest).map(({ record }) => record);
  const of = (domain: Domain): MemoryRecord[] =>
    sorted.filter((record) => record.domain === domain).slice(0, newest[domain] ?? 0);
  return DOMAINS.flatMap(of);
}
