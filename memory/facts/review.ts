/** What was put aside for a review: let in, or turned away for good. */
import type { MemoryRecord } from "../record.ts";
import { commitRecord, type CommitOutcome } from "./commit.ts";
import { deleteRecord, type FactDeps, instantOf, readPending } from "./rows.ts";
import { putTombstones } from "./tombstones.ts";
import type { None, Who } from "./types.ts";

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
