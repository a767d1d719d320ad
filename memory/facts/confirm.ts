/** What the owner says of facts: that they hold, which of those about the same, and whether one that waits comes in. */
import { recordNamespace } from "../namespaces.ts";
import type { MemoryRecord } from "../record.ts";
import { aboutOf, sameAbout } from "./about.ts";
import { commitRecord, type CommitOutcome, supersede } from "./commit.ts";
import { currentOf } from "./read.ts";
import {
  compareText,
  deleteRecord,
  type FactDeps,
  instantOf,
  putRecords,
  readAll,
  readPending,
} from "./rows.ts";
import { putTombstones } from "./tombstones.ts";
import type { None, Who } from "./types.ts";

/** Sets `last_verified` of the records with these full ids, as far as they are there. */
export async function verify(
  deps: FactDeps,
  { owner }: Who,
  ids: readonly string[],
): Promise<{ readonly verified: readonly MemoryRecord[] }> {
  const wanted = new Set(ids.map((id) => id.toLowerCase()));
  const { records } = await readAll(deps.store, owner);
  const now = instantOf(deps);
  const verified = records
    .filter(({ id }) => wanted.has(id))
    .map((record) => ({ ...record, last_verified: now, verification_due: false, updated_at: now }));
  await putRecords(deps.store, owner, verified);
  return { verified };
}

/** Current records about the same, in groups of two and more: newest first in each, groups in order of their names. */
export async function conflicts(
  deps: FactDeps,
  { owner }: Who,
): Promise<{ readonly group: string; readonly records: readonly MemoryRecord[] }[]> {
  const groups = new Map<string, { readonly group: string; readonly records: MemoryRecord[] }>();
  const { records: all } = await readAll(deps.store, owner);
  for (const record of currentOf(all, deps.clock.now())) {
    const group = aboutOf(record);
    if (group === null) continue;
    const key = JSON.stringify([group, ...recordNamespace(owner, record)]);
    const { records } = groups.get(key) ?? { records: [] };
    groups.set(key, { group, records: [...records, record] });
  }
  const several = [...groups].filter(([, { records }]) => records.length > 1);
  for (const [, { records }] of several)
    records.sort((a, b) => compareText(b.updated_at, a.updated_at) || compareText(a.id, b.id));
  return several.sort(([a], [b]) => compareText(a, b)).map(([, group]) => group);
}

/** Keeps the record with this full id, in whatever state it is, and supersedes the others about the same. */
export async function resolve(
  deps: FactDeps,
  { owner }: Who,
  keepId: string,
): Promise<
  | { readonly kind: "resolved"; readonly kept: MemoryRecord; readonly superseded: readonly MemoryRecord[] }
  | None
> {
  const { records: all } = await readAll(deps.store, owner);
  const chosen = all.find(({ id }) => id === keepId.toLowerCase());
  if (chosen === undefined) return { kind: "none" };
  const now = instantOf(deps);
  const held = {
    ...chosen,
    superseded_by: null,
    archived: false,
    verification_due: false,
    last_verified: now,
    updated_at: now,
  };
  const replaced = sameAbout(held, currentOf(all, deps.clock.now()));
  const { by, superseded } = await supersede(deps, owner, { by: held, replaced, all });
  return { kind: "resolved", kept: by, superseded };
}

/** What waits, oldest first. */
export async function listPending({ store }: FactDeps, { owner }: Who): Promise<MemoryRecord[]> {
  return (await readPending(store, owner)).records;
}

async function pendingOf(deps: FactDeps, who: Who, id: string): Promise<MemoryRecord | undefined> {
  return (await listPending(deps, who)).find((record) => record.id === id.toLowerCase());
}

/** Lets a fact in. It stays what it was: said by a tool or a file, and replacing nothing; or by the model. */
export async function accept(deps: FactDeps, who: Who, id: string): Promise<CommitOutcome | None> {
  const pending = await pendingOf(deps, who, id);
  if (pending?.review == null) return { kind: "none" };
  const review = { ...pending.review, state: "accepted" as const, at: instantOf(deps) };
  const outcome = await commitRecord(deps, who.owner, { ...pending, review }, { isExplicit: false });
  // Last: a crash before it leaves a pending copy of what is there, which the next accept finds known.
  await deleteRecord(deps.store, who.owner, pending);
  return outcome;
}

/** Turns a fact away; a tombstone keeps it from coming back by itself. */
export async function reject(
  deps: FactDeps,
  who: Who,
  id: string,
): Promise<{ readonly kind: "rejected"; readonly record: MemoryRecord } | None> {
  const pending = await pendingOf(deps, who, id);
  if (pending === undefined) return { kind: "none" };
  await putTombstones(deps, who.owner, [pending.text]);
  await deleteRecord(deps.store, who.owner, pending);
  return { kind: "rejected", record: pending };
}
