/** Reading for a turn: what fits a question, and the newest of each domain; all facts are read and ranked here. */
import { termsOf } from "#src/kernel/words.ts";
import { assertOwner } from "../namespaces.ts";
import { DOMAINS, type Domain, type MemoryRecord } from "../record.ts";
import type { FactDeps } from "./fact-deps.ts";
import { namespacesOf } from "./read-namespaces.ts";
import { byNewest, rankRecords } from "./rank-records.ts";
import { idsFound, readPlaces } from "./rows.ts";
import { statesOf } from "./record-states.ts";
import type { Recalled, RecallOptions, Who } from "./types.ts";

/** Recalls; see `FactStore.recall`. */
export async function recall(deps: FactDeps, who: Who, options: RecallOptions): Promise<Recalled> {
  assertOwner(who.owner);
  const { limit, byMeaning = false, newest = {} } = options;
  const prefixes = await prefixesOf(deps, who, options);
  const { records } = await readPlaces(deps.store, who.owner, prefixes);
  const current = statesOf(records, deps.clock.now()).filter(({ state }) => state === "current");
  const fitting = async (query: string): Promise<MemoryRecord[]> => {
    // Words that carry no topic fit everything.
    if (current.length === 0 || termsOf(query).length === 0) return [];
    const ids = byMeaning ? await idsFound(deps.store, prefixes, { query, limit }) : [];
    return rankRecords(current, query, ids)
      .slice(0, limit)
      .map(({ record }) => record);
  };
  const [relevant, byEarlier] = await Promise.all([fitting(options.query), fitting(options.earlier ?? "")]);
  const sorted = current.toSorted(byNewest).map(({ record }) => record);
  const newestOf = (domain: Domain): MemoryRecord[] =>
    sorted.filter((record) => record.domain === domain).slice(0, newest[domain] ?? 0);
  return { relevant, byEarlier, newest: DOMAINS.flatMap(newestOf) };
}

/** Whether there may be anything to recall; see `FactStore.hasAny`. */
export async function hasAny(
  deps: FactDeps,
  who: Who,
  options: Pick<RecallOptions, "task">,
): Promise<boolean> {
  assertOwner(who.owner);
  const prefixes = await prefixesOf(deps, who, options);
  const first = await Promise.all(prefixes.map((prefix) => deps.store.search(prefix, { limit: 1 })));
  return first.some((items) => items.length > 0);
}

/** Personality memory, and that of one task where there is one. */
async function prefixesOf(
  deps: FactDeps,
  who: Who,
  { task }: Pick<RecallOptions, "task">,
): Promise<string[][]> {
  const own = await namespacesOf(deps, who, {});
  return task === undefined ? own : [...own, ...(await namespacesOf(deps, who, { task }))];
}
