/** Forgetting by what is said: every record that says it, in any domain, task and state, and what cannot be read as one. */
import type { Item } from "@langchain/langgraph-checkpoint";
import { stringsIn } from "#src/kernel/json.ts";
import { assertOwner, taskIndexNamespace } from "../namespaces.ts";
import type { MemoryRecord } from "../record.ts";
import type { FactDeps } from "./fact-deps.ts";
import { forget } from "./forget.ts";
import { readAllRows, readItems, readPendingRows } from "./rows.ts";
import { putTombstone } from "./tombstones.ts";
import type { Who } from "./types.ts";

/** What of memory says it. */
export interface SayingRecords {
  readonly records: readonly MemoryRecord[];
  /** Items that are no record of this version. */
  readonly unreadable: readonly Item[];
}

/** Marks `text` as forgotten, whether a record says it or not. Twice is as once. */
export async function markForgotten(deps: FactDeps, who: Who, text: string): Promise<void> {
  assertOwner(who.owner);
  await putTombstone(deps, who.owner, text);
}

/** Everything in the memory of the owner that says it, also a record whose task is named so. Changes nothing. */
export async function findSaying(
  deps: FactDeps,
  who: Who,
  says: (text: string) => boolean,
): Promise<SayingRecords> {
  assertOwner(who.owner);
  const rows = [await readAllRows(deps.store, who.owner), await readPendingRows(deps.store, who.owner)];
  const all = rows.flatMap(({ records }) => records);
  const known = new Set(all.map(({ id }) => id));
  return {
    records: all.filter(({ text, task }) => says(text) || (task !== null && says(task))),
    unreadable: rows
      .flatMap(({ unreadable }) => unreadable)
      .filter(({ key, value }) => !known.has(key) && stringsIn(value).some(says)),
  };
}

/** Forgets what {@link findSaying} found, with a tombstone for each text; how many items are gone. Twice is as once. */
export async function forgetSaying(
  deps: FactDeps,
  who: Who,
  says: (text: string) => boolean,
): Promise<{ readonly forgotten: number }> {
  const { records, unreadable } = await findSaying(deps, who, says);
  const ids = new Set(records.map(({ id }) => id));
  for (const id of ids) await forget(deps, who, id);
  for (const { namespace, key } of unreadable) await deps.store.delete(namespace, key);
  for (const { namespace, key, value } of await readItems(deps.store, taskIndexNamespace(who.owner))) {
    if (stringsIn(value).some(says)) await deps.store.delete(namespace, key);
  }
  return { forgotten: ids.size + unreadable.length };
}
