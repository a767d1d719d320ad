/** What was put aside for a review: listed, let in, or turned away for good. */
import { assertOwner } from "../namespaces.ts";
import type { MemoryRecord } from "../record.ts";
import { commitRecord, type CommitOutcome } from "./commit.ts";
import { instantOf, type FactDeps } from "./fact-deps.ts";
import { deleteRecord, readPending } from "./rows.ts";
import { putTombstone } from "./tombstones.ts";
import type { None, Who } from "./types.ts";

/** The review of one memory. Ids are full ones. */
export interface Review {
  /** What waits, oldest first. */
  list(who: Who): Promise<MemoryRecord[]>;
  /** Lets a fact in. It stays what it was: said by a tool or a file, and replacing nothing; or by the model. */
  accept(who: Who, id: string): Promise<CommitOutcome | None>;
  /** Turns a fact away; a tombstone keeps it from coming back by itself. */
  reject(who: Who, id: string): Promise<{ readonly kind: "rejected"; readonly record: MemoryRecord } | None>;
}

/** The review on `deps`. */
export function createReview(deps: FactDeps): Review {
  const pendingOf = async (who: Who, id: string): Promise<MemoryRecord | undefined> =>
    (await list(who)).find((record) => record.id === id.toLowerCase());

  async function list(who: Who): Promise<MemoryRecord[]> {
    assertOwner(who.owner);
    return readPending(deps.store, who.owner);
  }

  return {
    list,
    async accept(who, id) {
      const pending = await pendingOf(who, id);
      if (pending?.review == null) return { kind: "none" };
      const accepted: MemoryRecord = {
        ...pending,
        review: { ...pending.review, state: "accepted", at: instantOf(deps) },
      };
      const outcome = await commitRecord(deps, who.owner, accepted, { isExplicit: false });
      // Last: a crash before it leaves a pending copy of what is there, which the next accept finds known.
      await deleteRecord(deps.store, who.owner, pending);
      return outcome;
    },
    async reject(who, id) {
      const pending = await pendingOf(who, id);
      if (pending === undefined) return { kind: "none" };
      await putTombstone(deps, who.owner, pending.text);
      await deleteRecord(deps.store, who.owner, pending);
      return { kind: "rejected", record: pending };
    },
  };
}
