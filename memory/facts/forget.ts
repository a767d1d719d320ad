/** Forgetting, by id or by what is said: a tombstone first, then the record and every trace of its id. */
import type { Item } from "@langchain/langgraph-checkpoint";
import { stringsIn } from "#src/kernel/json.ts";
import { assertOwner, taskIndexNamespace } from "../namespaces.ts";
import type { MemoryRecord } from "../record.ts";
import {
  deleteRecord,
  type FactDeps,
  putRecords,
  readAll,
  readItems,
  readPending,
  type Rows,
} from "./rows.ts";
import { putTombstones } from "./tombstones.ts";
import type { None, Who } from "./types.ts";

/** All that may be forgotten: what is remembered, and what waits for a review. */
function readBoth({ store }: FactDeps, { owner }: Who): Promise<[all: Rows, pending: Rows]> {
  return Promise.all([readAll(store, owner), readPending(store, owner)]);
}

/** Deletes the record with this full id, also one under review, and marks its text as forgotten without keeping it. `predecessors`, what it had replaced, are kept and still not read. */
export async function forget(
  deps: FactDeps,
  who: Who,
  id: string,
): Promise<
  | {
      readonly kind: "forgotten";
      readonly record: MemoryRecord;
      readonly predecessors: readonly MemoryRecord[];
    }
  | None
> {
  const [{ records: all }, { records: pending }] = await readBoth(deps, who);
  const doomed = [...all, ...pending].filter((record) => record.id === id.toLowerCase());
  const [gone] = doomed;
  if (gone === undefined) return { kind: "none" };
  // First, so that no crash leaves a deleted fact that an import may bring back.
  const [tombstone = ""] = await putTombstones(deps, who.owner, [gone.text]);
  for (const one of doomed) await deleteRecord(deps.store, who.owner, one);
  // An id is derived from the text and would let a guess be checked, so it goes too: from what the record had replaced,
  // which stays superseded, by the tombstone, and from what replaced it.
  const isPredecessor = (one: MemoryRecord): boolean =>
    one.superseded_by === gone.id || isUnmarked(one, gone);
  const predecessors = all
    .filter((one) => one.id !== gone.id && isPredecessor(one))
    .map((one) => ({ ...without(one, gone.id), superseded_by: tombstone }));
  const others = all
    .filter((one) => one.id !== gone.id && !isPredecessor(one) && one.supersedes.includes(gone.id))
    .map((one) => without(one, gone.id));
  await putRecords(deps.store, who.owner, [...predecessors, ...others]);
  return { kind: "forgotten", record: gone, predecessors };
}

function without(record: MemoryRecord, id: string): MemoryRecord {
  return { ...record, supersedes: record.supersedes.filter((other) => other !== id) };
}

/** A store without an atomic batch may lack the mark on what was superseded. */
function isUnmarked({ id, superseded_by, updated_at }: MemoryRecord, by: MemoryRecord): boolean {
  return superseded_by === null && by.supersedes.includes(id) && updated_at < by.updated_at;
}

/** Deletes every record, also those under review, and marks their texts as forgotten; how many are gone. */
export async function forgetAll(deps: FactDeps, who: Who): Promise<number> {
  const doomed = (await readBoth(deps, who)).flatMap(({ records }) => records);
  await putTombstones(
    deps,
    who.owner,
    doomed.map(({ text }) => text),
  );
  for (const record of doomed) await deleteRecord(deps.store, who.owner, record);
  return doomed.length;
}

/** Marks `text` as forgotten, whether a record says it or not. Twice is as once. */
export async function markForgotten(deps: FactDeps, who: Who, text: string): Promise<void> {
  assertOwner(who.owner);
  await putTombstones(deps, who.owner, [text]);
}

/**
 * Everything in the memory of the owner that says it: records of any domain, task and state, also those whose task is named
 * so, and items that are no record of this version. Changes nothing.
 */
export async function findSaying(
  deps: FactDeps,
  who: Who,
  says: (text: string) => boolean,
): Promise<{ readonly records: readonly MemoryRecord[]; readonly unreadable: readonly Item[] }> {
  assertOwner(who.owner);
  const rows = await readBoth(deps, who);
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
  const tasks = await readItems(deps.store, taskIndexNamespace(who.owner));
  for (const { namespace, key } of [
    ...unreadable,
    ...tasks.filter(({ value }) => stringsIn(value).some(says)),
  ])
    await deps.store.delete(namespace, key);
  return { forgotten: ids.size + unreadable.length };
}
