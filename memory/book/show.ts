/** Reading: which records of an owner are given, in which order, and what was left out. Never writes. */
import { LilyError } from "#src/kernel/errors.ts";
import { assertOwner } from "../namespaces.ts";
import type { RecordState } from "../retention/lifecycle.ts";
import type { Desk } from "./desk.ts";
import { placesOf } from "./places.ts";
import { byNewest, rankRecords } from "./rank-records.ts";
import { readRecords } from "./rows.ts";
import { showNewest } from "./show-newest.ts";
import { settle } from "./settle.ts";
import type { ShowOptions, ShowResult, Who } from "./types.ts";

const DEFAULT_LIMIT = 50;

const STATES: readonly RecordState[] = ["current", "expired", "archived", "superseded"];

/** Reads what `options` select; see `MemoryBook.show`. */
export async function show(desk: Desk, who: Who, options: ShowOptions = {}): Promise<ShowResult> {
  assertOwner(who.owner);
  assertLimit(options.limit);
  const query = options.query?.trim();
  const prefixes = await placesOf(desk, who, options);
  const hasWords = query !== undefined && query !== "";
  const limit = options.limit ?? DEFAULT_LIMIT;
  const states = new Set(STATES.filter((state) => isIncluded(state, options)));
  const newest = hasWords ? undefined : await showNewest(desk, who.owner, { prefixes, limit, states });
  if (newest !== undefined) return newest;
  const how = hasWords ? { query } : {};
  const rows = await Promise.all(prefixes.map((prefix) => readRecords(desk.store, who.owner, prefix, how)));
  const settled = settle(
    rows.flatMap(({ records }) => records),
    desk.clock.now(),
  );
  const isRankedByStore = rows.every((row) => row.isRanked);
  const matching = hasWords ? rankRecords(settled, query, () => isRankedByStore) : settled.toSorted(byNewest);
  const included = matching.filter(({ state }) => states.has(state));
  const count = (state: RecordState): number =>
    states.has(state) ? 0 : matching.filter((one) => one.state === state).length;
  return {
    records: included.slice(0, limit).map(({ record }) => record),
    total: included.length,
    leftOut: { expired: count("expired"), archived: count("archived"), superseded: count("superseded") },
    unreadable: rows.reduce((sum, row) => sum + row.unreadable.length, 0),
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
