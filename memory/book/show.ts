/** Reading: which records of an owner are given, in which order, and what was left out. Never writes. */
import { LilyError } from "#src/kernel/errors.ts";
import { encodeLabel } from "#src/kernel/namespace-label.ts";
import { rankTexts, termsOf } from "#src/kernel/words.ts";
import { assertOwner, personalityPrefix, taskPrefix } from "../namespaces.ts";
import { PERSONALITY_DOMAINS, type Scope } from "../record.ts";
import type { RecordState } from "../retention/lifecycle.ts";
import type { Desk } from "./desk.ts";
import { taskOf } from "./new-record.ts";
import { compareText, readRecords, taskPrefixes, type Rows } from "./rows.ts";
import { settle, type SettledRecord } from "./settle.ts";
import type { ShowOptions, ShowResult, Who } from "./types.ts";

const DEFAULT_LIMIT = 50;

/** Reads what `options` select; see `MemoryBook.show`. */
export async function show(desk: Desk, who: Who, options: ShowOptions = {}): Promise<ShowResult> {
  assertOwner(who.owner);
  assertLimit(options.limit);
  const query = options.query?.trim();
  const prefixes = await prefixesOf(desk, who, options);
  const hasWords = query !== undefined && query !== "";
  const how = hasWords ? { query } : {};
  const rows = await Promise.all(prefixes.map((prefix) => readRecords(desk.store, who.owner, prefix, how)));
  const settled = settle(
    rows.flatMap(({ records }) => records),
    desk.clock.now(),
  );
  const matching = hasWords ? rank(settled, query, rows) : settled.toSorted(byNewest);
  const included = matching.filter(({ state }) => isIncluded(state, options));
  const count = (state: RecordState): number =>
    matching.filter((one) => one.state === state && !isIncluded(state, options)).length;
  return {
    records: included.slice(0, options.limit ?? DEFAULT_LIMIT).map(({ record }) => record),
    total: included.length,
    leftOut: { expired: count("expired"), archived: count("archived"), superseded: count("superseded") },
    unreadable: rows.reduce((sum, row) => sum + row.unreadable, 0),
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

async function prefixesOf(desk: Desk, who: Who, options: ShowOptions): Promise<string[][]> {
  const { task } = options;
  const domains = options.domains ?? (task === undefined ? PERSONALITY_DOMAINS : ["task_memory" as const]);
  const prefixes: string[][] = [];
  for (const domain of new Set(domains)) {
    if (domain !== "task_memory") prefixes.push(personalityPrefix(who.owner, domain));
    else if (task === "*") prefixes.push(...(await taskPrefixes(desk.store, who.owner)));
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

/** A record and what it replaced change at the same instant: the one that holds comes first. */
function byNewest(a: SettledRecord, b: SettledRecord): number {
  const holdsFirst = Number(b.state === "current") - Number(a.state === "current");
  return (
    compareText(b.record.updated_at, a.record.updated_at) ||
    holdsFirst ||
    compareText(a.record.id, b.record.id)
  );
}

/**
 * Best match first. Scores of a store compare within one answer only, so all hits are ranked here by their words; what a
 * store found by other means (another form of a word, its meaning) follows in the store's order. A store that ignores
 * queries gives everything, of which what shares a word is a hit.
 */
function rank(settled: readonly SettledRecord[], query: string, rows: readonly Rows[]): SettledRecord[] {
  const ranked = rankTexts(settled, query, ({ record }) => record.text).map(({ item }) => item);
  const isRankedByStore = rows.every((row) => row.isRanked);
  if (!isRankedByStore)
    return ranked.length > 0 || termsOf(query).length > 0 ? ranked : bySubstring(settled, query);
  const found = new Set(ranked);
  return [...ranked, ...settled.filter((one) => !found.has(one))];
}

/** For a query that is all stop words or marks, which words cannot find. */
function bySubstring(settled: readonly SettledRecord[], query: string): SettledRecord[] {
  const wanted = query.toLowerCase();
  return settled.filter(({ record }) => record.text.toLowerCase().includes(wanted));
}

/** Refuses a limit that is no count. */
function assertLimit(limit: number | undefined): void {
  if (limit === undefined || (Number.isInteger(limit) && limit >= 0)) return;
  throw new LilyError("memory_input_invalid", `${limit} is no number of records`, {
    next: "Give a whole number.",
  });
}
