/** Reading: which records of an owner are given, in which order, and what was left out. Never writes. */
import { LilyError } from "#src/kernel/errors.ts";
import { assertOwner } from "../namespaces.ts";
import type { RecordState } from "../retention/lifecycle.ts";
import type { FactDeps } from "./fact-deps.ts";
import { namespacesOf } from "./read-namespaces.ts";
import { byNewest, rankRecords } from "./rank-records.ts";
import { idsFound, readPlaces } from "./rows.ts";
import { statesOf } from "./record-states.ts";
import type { ShowOptions, ShowResult, Who } from "./types.ts";

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
