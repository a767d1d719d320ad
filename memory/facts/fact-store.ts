/** The fact store: the one way to long-term memory, for commands, tools, imports and jobs alike. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import type { Domain, MemoryRecord } from "../record.ts";
import { conflicts, resolve, verify } from "./confirm.ts";
import { edit } from "./edit.ts";
import { exportAll, importAll, type ImportOptions, type MemoryExport } from "./import.ts";
import { byIds, find, hasAny, recall, show } from "./read.ts";
import { forget, forgetAll } from "./forget.ts";
import { applyLifecycle, type LifecycleOptions } from "./jobs.ts";
import { createMask } from "./masked.ts";
import { remember } from "./remember.ts";
import { createReview, type Review } from "./review.ts";
import type {
  Change,
  Conflict,
  Fact,
  ForgetOutcome,
  Found,
  ImportReport,
  LifecycleReport,
  None,
  Recalled,
  RecallOptions,
  RememberOutcome,
  ResolveOutcome,
  ShowOptions,
  ShowResult,
  Who,
} from "./types.ts";
import { assertOwner } from "../namespaces.ts";
import type { FactDeps } from "./fact-deps.ts";
import { readAll, readPending } from "./rows.ts";
import { currentOf } from "../retention/lifecycle.ts";

/**
 * Long-term memory of every owner. `who` comes from the run's own context; nothing in a text or a tool's arguments
 * reaches another owner. Every write passes the policy gate, and every decision reads again right before it writes.
 * Each call throws `memory_owner_missing` for an empty owner, `memory_input_invalid` for malformed options, and what the
 * store throws. All else is an answer, in which secrets that an earlier version let in are masked.
 */
export interface FactStore {
  /** Gate, then one write. What is about the same is superseded, where the owner or the model says it. */
  remember(who: Who, fact: Fact): Promise<RememberOutcome>;
  /** Reads; by default only what holds now. Never writes, so reading makes nothing fresher. */
  show(who: Who, options?: ShowOptions): Promise<ShowResult>;
  /** What fits a question, and the newest of some domains, of what holds now. */
  recall(who: Who, options: RecallOptions): Promise<Recalled>;
  /** Whether there may be anything to recall: a fact of the owner, or of the task, whatever state it is in. */
  hasAny(who: Who, options: Pick<RecallOptions, "task">): Promise<boolean>;
  /** The record with this id, or the ones that begin with it (4 characters at least), in any state. */
  find(who: Who, id: string): Promise<Found>;
  /** The records with these full ids that are still there, in the same order and in any state. */
  byIds(who: Who, ids: readonly string[]): Promise<MemoryRecord[]>;
  /** The text of the record with this full id as it is stored, for an erasure alone: everything else is given masked. */
  rawText(who: Who, id: string): Promise<string | undefined>;
  /** Deletes the record with this full id, also one under review, and marks its text as forgotten without keeping it. */
  forget(who: Who, id: string): Promise<ForgetOutcome>;
  /** Deletes every record, also those under review, and marks their texts as forgotten; how many are gone. */
  forgetAll(who: Who): Promise<number>;
  /** A new text or domain replaces the record by a new one; all else changes in place. The owner's word. */
  edit(who: Who, id: string, change: Change): Promise<RememberOutcome | None>;
  /** Sets `last_verified` of the records with these full ids. */
  verify(
    who: Who,
    ids: readonly string[],
  ): Promise<{ readonly verified: readonly MemoryRecord[]; readonly missing: readonly string[] }>;
  /** Facts about the same, in groups of two and more. */
  conflicts(who: Who): Promise<Conflict[]>;
  /** Keeps this one and supersedes the others of its group. */
  resolve(who: Who, keepId: string): Promise<ResolveOutcome>;
  /** Everything but what waits for a review. */
  exportAll(who: Who): Promise<MemoryExport>;
  /** Adds what is new, with its dates and expiry. Twice is as once; what was forgotten stays away without `revive`. */
  importAll(who: Who, input: unknown, options?: ImportOptions): Promise<ImportReport>;
  readonly review: Review;
  /** Marks what expired, is to be archived, or is due for verification. */
  applyLifecycle(who: Who, options?: LifecycleOptions): Promise<LifecycleReport>;
  /** How many facts hold now, by domain, and how many wait for a review. */
  overview(who: Who): Promise<Overview>;
}

/** What comes into it from outside. */
export type FactStoreDeps = Omit<FactDeps, "store">;

/** The fact store on `store`, which may be any LangGraph store, also the one a graph node is given. */
export function createFactStore(store: BaseStore, { clock, ids, scan }: FactStoreDeps): FactStore {
  const deps = { store, clock, ids, scan };
  const mask = createMask(scan);
  const review = createReview(deps);
  return {
    remember: async (who, fact) => mask(await remember(deps, who, fact)),
    show: async (who, options) => mask(await show(deps, who, options)),
    recall: async (who, options) => mask(await recall(deps, who, options)),
    hasAny: (who, options) => hasAny(deps, who, options),
    find: async (who, id) => mask(await find(deps, who, id)),
    byIds: async (who, ids) => mask(await byIds(deps, who, ids)),
    rawText: async (who, id) => (await byIds(deps, who, [id]))[0]?.text,
    forget: async (who, id) => mask(await forget(deps, who, id)),
    forgetAll: (who) => forgetAll(deps, who),
    edit: async (who, id, change) => mask(await edit(deps, who, id, change)),
    verify: async (who, verified) => mask(await verify(deps, who, verified)),
    conflicts: async (who) => mask(await conflicts(deps, who)),
    resolve: async (who, keepId) => mask(await resolve(deps, who, keepId)),
    exportAll: async (who) => mask(await exportAll(deps, who)),
    importAll: (who, input, options) => importAll(deps, who, input, options),
    review: {
      list: async (who) => mask(await review.list(who)),
      accept: async (who, id) => mask(await review.accept(who, id)),
      reject: async (who, id) => mask(await review.reject(who, id)),
    },
    applyLifecycle: (who, options) => applyLifecycle(deps, who, options),
    overview: (who) => overview(deps, who),
  };
}

/** Counts of what holds now by domain, of what waits for a review, and of what is kept but not read. */
export interface Overview {
  readonly current: Readonly<Record<Domain, number>>;
  readonly review: number;
  readonly leftOut: number;
}

/** Counts the records of an owner. */
async function overview(deps: FactDeps, who: Who): Promise<Overview> {
  assertOwner(who.owner);
  const [records, pending] = await Promise.all([
    readAll(deps.store, who.owner),
    readPending(deps.store, who.owner),
  ]);
  const current = { persona_core: 0, user_profile: 0, working_rules: 0, task_memory: 0 };
  const holding = currentOf(records, deps.clock.now());
  for (const { domain } of holding) current[domain] += 1;
  return { current, review: pending.length, leftOut: records.length - holding.length };
}
