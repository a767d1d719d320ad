/** Reading: which records of an owner are given, in which order, and what was left out; for a person, for a turn, and by id. Never writes. */
import { assertOwner, personalityPrefix, taskPrefix } from "../namespaces.ts";
import { type Domain, DOMAINS, type MemoryRecord, PERSONALITY_DOMAINS, type Scope } from "../record.ts";
import type { FactDeps } from "./fact-deps.ts";
import { compareText, idsFound, readAll, readPending, readPlaces, taskPrefixes } from "./rows.ts";
import type { Found, Recalled, RecallOptions, ShowOptions, ShowResult, Who } from "./types.ts";
import { rankTexts, termsOf } from "#src/kernel/words.ts";
import { type RecordState, type RecordWithState, statesOf } from "../retention/lifecycle.ts";
import { encodeLabel } from "#src/kernel/ids.ts";
import { taskOf } from "./new-record.ts";
import { LilyError } from "#src/kernel/errors.ts";

const DEFAULT_LIMIT = 50;

/** Records that a store is asked for beside those that share a word with the question. */
const MOST_FOUND = 500;

const STATES: readonly RecordState[] = ["current", "expired", "archived", "superseded"];

/** Reads what `options` select; see `FactStore.show`. */
export async function show(deps: FactDeps, who: Who, options: ShowOptions = {}): Promise<ShowResult> {
  assertOwner(who.owner);
  assertLimit(options.limit);
  const query = options.query?.trim() ?? "";
  const limit = options.limit ?? DEFAULT_LIMIT;
  const prefixes = await namespacesOf(deps, who, options);
  const { records, unreadable } = await readPlaces(deps.store, who.owner, prefixes);
  const settled = statesOf(records, deps.clock.now());
  const matching =
    query === ""
      ? settled.toSorted(byNewest)
      : rankRecords(settled, query, await idsFound(deps.store, prefixes, { query, limit: MOST_FOUND }));
  const states = new Set(STATES.filter((state) => isIncluded(state, options)));
  const included = matching.filter(({ state }) => states.has(state));
  const leftOut = (wanted: RecordState): number =>
    states.has(wanted) ? 0 : matching.filter(({ state }) => state === wanted).length;
  return {
    records: included.slice(0, limit).map(({ record }) => record),
    total: included.length,
    leftOut: {
      expired: leftOut("expired"),
      archived: leftOut("archived"),
      superseded: leftOut("superseded"),
    },
    unreadable: unreadable.length,
  };
}

function isIncluded(state: RecordState, options: ShowOptions): boolean {
  switch (state) {
    case "current":
      return true;
    case "expired":
      return options.includeExpired === true;
    case "archived":
      return options.includeArchived === true;
    case "superseded":
      return options.includeSuperseded === true;
  }
}

/** Refuses a limit that is no count. */
function assertLimit(limit: number | undefined): void {
  if (limit === undefined || (Number.isInteger(limit) && limit >= 0)) return;
  throw new LilyError("memory_input_invalid", `${limit} is no number of records`, {
    next: "Give a whole number.",
  });
}

/** Prefixes of what `options` select, one a domain or task and scope. */
async function namespacesOf(
  deps: FactDeps,
  who: Who,
  options: Pick<ShowOptions, "domains" | "task" | "scope">,
): Promise<string[][]> {
  const { task } = options;
  const domains = options.domains ?? (task === undefined ? PERSONALITY_DOMAINS : ["task_memory" as const]);
  const prefixes: string[][] = [];
  for (const domain of new Set(domains)) {
    if (domain !== "task_memory") prefixes.push(personalityPrefix(who.owner, domain));
    else if (task === "*") prefixes.push(...(await taskPrefixes(deps.store, who.owner)));
    else prefixes.push(taskPrefix(who.owner, taskOf(task)));
  }
  return prefixes.flatMap((prefix) => scopesOf(who, options.scope).map((scope) => [...prefix, ...scope]));
}

/** The labels of the scopes that are read; none for all of them. */
function scopesOf({ agent }: Who, scope: Scope | "*" | undefined): string[][] {
  if (scope === "*") return [[]];
  if (scope !== undefined) return [[encodeLabel(scope)]];
  return [
    [encodeLabel("global")],
    ...(agent === undefined || agent === "" ? [] : [[encodeLabel(`agent:${agent}`)]]),
  ];
}

/**
 * Best match first: by the words they share with the question, then, in the store's order, those of which the store gave
 * the id (another form of a word, its meaning). Where neither finds any, what holds the question as it is written.
 */
function rankRecords(
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
function byNewest(a: RecordWithState, b: RecordWithState): number {
  const holdsFirst = Number(b.state === "current") - Number(a.state === "current");
  return (
    compareText(b.record.updated_at, a.record.updated_at) ||
    holdsFirst ||
    compareText(a.record.id, b.record.id)
  );
}

/** Recalls; see `FactStore.recall`. */
export async function recall(deps: FactDeps, who: Who, options: RecallOptions): Promise<Recalled> {
  assertOwner(who.owner);
  const { limit, byMeaning = false, newest = {} } = options;
  const prefixes = await prefixesOf(deps, who, options);
  const [{ records }, pending] = await Promise.all([
    readPlaces(deps.store, who.owner, prefixes),
    readPending(deps.store, who.owner),
  ]);
  const states = statesOf(records, deps.clock.now());
  const settled = options.begun === undefined ? states : asBegun(states, who.sessionId, options.begun);
  const current = settled.filter(({ state }) => state === "current");
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
  const isInReach = ({ scope, task }: MemoryRecord): boolean =>
    (scope === "global" || scope === `agent:${who.agent}`) && (task === null || task === options.task);
  const waiting = rankTexts(pending.filter(isInReach), options.query, ({ text }) => text).map(
    ({ item }) => item.id,
  );
  return { relevant, byEarlier, newest: DOMAINS.flatMap(newestOf), waiting: waiting.slice(0, limit) };
}

/**
 * Persona and rules as they stood at `begun`, with what the session itself changed since: what another session added is
 * not read, and what another session replaced still holds.
 */
function asBegun(
  states: readonly RecordWithState[],
  sessionId: string | undefined,
  begun: string,
): RecordWithState[] {
  const isKnown = ({ created_at, session_id }: MemoryRecord): boolean =>
    created_at <= begun || (session_id !== null && session_id === sessionId);
  const replacing = new Map<string, MemoryRecord>();
  for (const { record } of states) for (const id of record.supersedes) replacing.set(id, record);
  const isReplaced = (record: MemoryRecord, seen = new Set<string>()): boolean => {
    const by = replacing.get(record.id);
    if (by === undefined || seen.has(by.id)) return record.superseded_by !== null && by === undefined;
    return isKnown(by) || isReplaced(by, seen.add(by.id));
  };
  return states.flatMap((one) => {
    const { record, state } = one;
    if (!FROZEN.has(record.domain)) return [one];
    if (!isKnown(record)) return [];
    return state === "superseded" && !isReplaced(record) ? [{ record, state: "current" as const }] : [one];
  });
}

const FROZEN: ReadonlySet<Domain> = new Set(["persona_core", "working_rules"]);

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

/** Fewer characters would name a record by accident. */
const MIN_PREFIX = 4;

/** What `text` stands for; see `FactStore.find`. */
export async function find(deps: FactDeps, who: Who, text: string): Promise<Found> {
  assertOwner(who.owner);
  return matchId(await readAll(deps.store, who.owner), text);
}

/** The records with these full ids, in the same order; see `FactStore.byIds`. One reading, however many are named. */
export async function byIds(deps: FactDeps, who: Who, ids: readonly string[]): Promise<MemoryRecord[]> {
  assertOwner(who.owner);
  if (ids.length === 0) return [];
  const records = new Map((await readAll(deps.store, who.owner)).map((record) => [record.id, record]));
  return ids.flatMap((id) => records.get(id) ?? []);
}

/** The records whose id is `text` or begins with it; dashes and case do not count, fewer than 4 characters find nothing. */
export function matchId(records: readonly MemoryRecord[], text: string): Found {
  const wanted = idPart(text);
  if (wanted === undefined) return { kind: "none" };
  const hits = records.filter(({ id }) => hexOf(id).startsWith(wanted));
  const [first] = hits;
  if (first === undefined) return { kind: "none" };
  if (hits.length === 1) return { kind: "one", record: first };
  return { kind: "many", records: hits.toSorted((a, b) => compareText(a.id, b.id)) };
}

function idPart(text: string): string | undefined {
  const wanted = hexOf(text.trim());
  return wanted.length >= MIN_PREFIX && /^[0-9a-f]+$/u.test(wanted) ? wanted : undefined;
}

function hexOf(id: string): string {
  return id.toLowerCase().replaceAll("-", "");
}
