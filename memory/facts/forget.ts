/** Forgetting: a tombstone first, then the record and every trace of its id. */
import { assertOwner } from "../namespaces.ts";
import type { MemoryRecord } from "../record.ts";
import type { FactDeps } from "./fact-deps.ts";
import { deleteRecord, putRecord, readAll, readPending } from "./rows.ts";
import { putTombstone, putTombstones } from "./tombstones.ts";
import type { ForgetOutcome, Who } from "./types.ts";

/** Forgets one record, also one that waits for a review; see `FactStore.forget`. */
export async function forget(deps: FactDeps, who: Who, id: string): Promise<ForgetOutcome> {
  assertOwner(who.owner);
  const wanted = id.toLowerCase();
  const [all, pending] = await Promise.all([
    readAll(deps.store, who.owner),
    readPending(deps.store, who.owner),
  ]);
  const doomed = [...all, ...pending].filter((record) => record.id === wanted);
  const [record] = doomed;
  if (record === undefined) return { kind: "none" };
  // First, so that no crash leaves a deleted fact that an import may bring back.
  const tombstone = await putTombstone(deps, who.owner, record.text);
  for (const one of doomed) await deleteRecord(deps.store, who.owner, one);
  const predecessors = await forgetLinks(deps, who.owner, all, { gone: record, tombstone });
  return { kind: "forgotten", record, predecessors };
}

/**
 * An id is derived from the text and would let a guess be checked, so it goes too: from what the record had replaced
 * and from what replaced it. The former stay superseded, by the tombstone.
 */
async function forgetLinks(
  deps: FactDeps,
  owner: string,
  all: readonly MemoryRecord[],
  { gone, tombstone }: { readonly gone: MemoryRecord; readonly tombstone: string },
): Promise<MemoryRecord[]> {
  const predecessors: MemoryRecord[] = [];
  for (const record of all) {
    if (record.id === gone.id) continue;
    const isPredecessor = record.superseded_by === gone.id || isUnmarked(record, gone);
    if (!isPredecessor && !record.supersedes.includes(gone.id)) continue;
    const supersedes = record.supersedes.filter((other) => other !== gone.id);
    const changed = {
      ...record,
      supersedes,
      superseded_by: isPredecessor ? tombstone : record.superseded_by,
    };
    await putRecord(deps.store, owner, changed);
    if (isPredecessor) predecessors.push(changed);
  }
  return predecessors;
}

/** A store without an atomic batch may lack the mark on what was superseded. */
function isUnmarked({ id, superseded_by, updated_at }: MemoryRecord, by: MemoryRecord): boolean {
  return superseded_by === null && by.supersedes.includes(id) && updated_at < by.updated_at;
}

/** Empties the memory of the owner; see `FactStore.forgetAll`. */
export async function forgetAll(deps: FactDeps, who: Who): Promise<number> {
  assertOwner(who.owner);
  const [all, pending] = await Promise.all([
    readAll(deps.store, who.owner),
    readPending(deps.store, who.owner),
  ]);
  const doomed = [...all, ...pending];
  await putTombstones(
    deps,
    who.owner,
    doomed.map(({ text }) => text),
  );
  for (const record of doomed) await deleteRecord(deps.store, who.owner, record);
  return doomed.length;
}
