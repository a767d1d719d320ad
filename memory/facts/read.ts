/** Reading: which records hold, which of them are given, in which order, and what was left out; for a person, for a turn, and by id. Never writes. */
import { fromInstant } from "#src/kernel/clock.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { encodeLabel } from "#src/kernel/ids.ts";
import { rankTexts, termsOf } from "#src/kernel/words.ts";
import { personalityPrefix, taskOf, taskPrefix } from "../namespaces.ts";
import { type Domain, DOMAINS, type MemoryRecord, PERSONALITY_DOMAINS, type Scope } from "../record.ts";
import {
  compareText,
  type FactDeps,
  idsFound,
  readAll,
  readPending,
  readRecords,
  taskPrefixes,
} from "./rows.ts";
import type { Recalled, RecallOptions, ShowOptions, ShowResult, Who } from "./types.ts";

/** The state that decides whether a record is read. */
export type RecordState = "current" | "expired" | "archived" | "superseded";

/** State of a record at `nowMs`. Expiry is an instant: at it the fact no longer holds, whether a job has marked it or not. */
export function stateOf(record: MemoryRecord, nowMs: number): RecordState {
  if (record.superseded_by !== null) return "superseded";
  if (record.archived) return "archived";
  return isExpired(record, nowMs) ? "expired" : "current";
}

/** Whether its expiry has come. */
export function isExpired({ expires_at }: MemoryRecord, nowMs: number): boolean {
  return expires_at !== null && nowMs >= fromInstant(expires_at);
}

interface RecordWithState {
  readonly record: MemoryRecord;
  readonly state: RecordState;
}

/**
 * The state of each record at `nowMs`, in their order. A record without a mark counts as superseded when a current one
 * that was written later names it: the later one is put first, and a crash may leave out the mark.
 */
function statesOf(records: readonly MemoryRecord[], nowMs: number): RecordWithState[] {
  const settled = records.map((record) => ({ record, state: stateOf(record, nowMs) }));
  const replacedAt = new Map<string, string>();
  for (const { record, state } of settled)
    for (const id of state === "current" ? record.supersedes : [])
      if (record.updated_at > (replacedAt.get(id) ?? "")) replacedAt.set(id, record.updated_at);
  return settled.map((one) => {
    const isReplaced = (replacedAt.get(one.record.id) ?? "") > one.record.updated_at;
    return one.state === "current" && isReplaced ? { ...one, state: "superseded" } : one;
  });
}

/** Those of `records` that hold at `nowMs`. */
export function currentOf(records: readonly MemoryRecord[], nowMs: number): MemoryRecord[] {
  return statesOf(records, nowMs).flatMap(({ record, state }) => (state === "current" ? [record] : []));
}

const DEFAULT_LIMIT = 50;

/** Records that a store is asked for beside those that share a word with the question. */
const MOST_FOUND = 500;

/** Reads what `options` select; by default only what holds now. */
export async function show(deps: FactDeps, who: Who, options: ShowOptions = {}): Promise<ShowResult> {
  const query = options.query?.trim() ?? "";
  const { limit = DEFAULT_LIMIT } = options;
  if (!Number.isInteger(limit) || limit < 0)
    throw new LilyError("memory_input_invalid", `${limit} is no number of records`, {
      next: "Give a whole number.",
    });
  const prefixes = await namespacesOf(deps, who, options);
  const { records, unreadable } = await readRecords(deps.store, who.owner, prefixes);
  const settled = statesOf(records, deps.clock.now());
  const matching =
    query === ""
      ? settled.toSorted(byNewest)
      : rankRecords(settled, query, await idsFound(deps.store, prefixes, { query, limit: MOST_FOUND }));
  const isAll = options.includeAll === true;
  const included = matching.filter(({ state }) => isAll || state === "current");
  const leftOut = (wanted: RecordState): number =>
    isAll ? 0 : matching.filter(({ state }) => state === wanted).length;
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
  const byId = new Map(settled.map((one) => [one.record.id, one]));
  const found = new Set([...ranked, ...foundIds.flatMap((id) => byId.get(id) ?? [])]);
  if (found.size > 0) return [...found];
  // What is all stop words or marks, and a part of a word in scripts that do not space words.
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

/** What fits a question, and all else that holds now. */
export async function recall(deps: FactDeps, who: Who, options: RecallOptions): Promise<Recalled> {
  const { limit, task, byMeaning = false } = options;
  const prefixes = [
    ...(await namespacesOf(deps, who, {})),
    ...(task === undefined ? [] : await namespacesOf(deps, who, { task })),
  ];
  const [{ records }, { records: pending }] = await Promise.all([
    readRecords(deps.store, who.owner, prefixes),
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
  const all = DOMAINS.flatMap((domain) => sorted.filter((record) => record.domain === domain));
  const inReach = pending.filter(
    (one) =>
      (one.scope === "global" || one.scope === `agent:${who.agent}`) &&
      (one.task === null || one.task === task),
  );
  const waiting = rankTexts(inReach, options.query, ({ text }) => text).map(({ item }) => item.id);
  return { relevant, byEarlier, all, waiting: waiting.slice(0, limit) };
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

/** Fewer characters would name a record by accident. */
const MIN_PREFIX = 4;

/** The records in any state whose id is `text` or begins with it, by id. Dashes and case do not count. */
export async function find(deps: FactDeps, who: Who, text: string): Promise<MemoryRecord[]> {
  const wanted = hexOf(text.trim());
  if (wanted.length < MIN_PREFIX || !/^[0-9a-f]+$/u.test(wanted)) return [];
  const { records } = await readAll(deps.store, who.owner);
  return records.filter(({ id }) => hexOf(id).startsWith(wanted)).sort((a, b) => compareText(a.id, b.id));
}

function hexOf(id: string): string {
  return id.toLowerCase().replaceAll("-", "");
}

/** The records with these full ids that are still there, in the same order and in any state. */
export async function byIds(deps: FactDeps, who: Who, ids: readonly string[]): Promise<MemoryRecord[]> {
  if (ids.length === 0) return [];
  const { records } = await readAll(deps.store, who.owner);
  const byId = new Map(records.map((record) => [record.id, record]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}
