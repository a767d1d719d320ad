/** The fact store: the one way to long-term memory, for commands, tools, imports and jobs alike. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { keepNewest } from "#src/kernel/keep-newest.ts";
import { assertOwner } from "../namespaces.ts";
import { maskSecrets } from "../policy/find-secrets.ts";
import type { SecretScanner } from "../policy/secret-scanner.ts";
import type { Domain, MemoryRecord } from "../record.ts";
import type { CommitOutcome } from "./commit.ts";
import { conflicts, resolve, verify } from "./confirm.ts";
import { edit } from "./edit.ts";
import { forget, forgetAll } from "./forget.ts";
import { exportAll, importAll, type MemoryExport } from "./import.ts";
import { byIds, currentOf, find, recall, show } from "./read.ts";
import { remember } from "./remember.ts";
import { applyLifecycle } from "./retention.ts";
import { accept, listPending, reject } from "./review.ts";
import { type FactDeps, readAll, readPending } from "./rows.ts";
import type {
  Change,
  Conflict,
  Fact,
  ForgetOutcome,
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
  /** What fits a question, and all else that holds now. */
  recall(who: Who, options: RecallOptions): Promise<Recalled>;
  /** The record with this id, or the ones that begin with it (4 characters at least), in any state. */
  find(who: Who, id: string): Promise<MemoryRecord[]>;
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
  /** Sets `last_verified` of the records with these full ids, as far as they are there. */
  verify(who: Who, ids: readonly string[]): Promise<{ readonly verified: readonly MemoryRecord[] }>;
  /** Facts about the same, in groups of two and more. */
  conflicts(who: Who): Promise<Conflict[]>;
  /** Keeps this one and supersedes the others of its group. */
  resolve(who: Who, keepId: string): Promise<ResolveOutcome>;
  /** Everything but what waits for a review. */
  exportAll(who: Who): Promise<MemoryExport>;
  /** Adds what is new, with its dates and expiry. Twice is as once; what was forgotten stays away. */
  importAll(who: Who, input: unknown): Promise<ImportReport>;
  /** What was put aside for a review. Ids are full ones. */
  readonly review: {
    /** What waits, oldest first. */
    list(who: Who): Promise<MemoryRecord[]>;
    /** Lets a fact in. It stays what it was: said by a tool or a file, and replacing nothing; or by the model. */
    accept(who: Who, id: string): Promise<CommitOutcome | None>;
    /** Turns a fact away; a tombstone keeps it from coming back by itself. */
    reject(
      who: Who,
      id: string,
    ): Promise<{ readonly kind: "rejected"; readonly record: MemoryRecord } | None>;
  };
  /** Marks what expired, is to be archived, or is due for verification: some of it, where that is much. */
  applyLifecycle(who: Who): Promise<LifecycleReport>;
  /** How many facts hold now, by domain, and how many wait for a review. */
  overview(who: Who): Promise<Overview>;
}

/** Counts of what holds now by domain, of what waits for a review, and of what is kept but not read. */
export interface Overview {
  readonly current: Readonly<Record<Domain, number>>;
  readonly review: number;
  readonly leftOut: number;
}

/** The fact store on `store`, which may be any LangGraph store, also the one a graph node is given. */
export function createFactStore(store: BaseStore, outside: Omit<FactDeps, "store">): FactStore {
  const deps = { store, ...outside };
  const mask = createMask(deps.scan);
  /** `work` for somebody, with its answer masked. */
  const owned =
    <Args extends readonly unknown[], Answer>(
      work: (on: FactDeps, who: Who, ...args: Args) => Promise<Answer>,
    ) =>
    async (who: Who, ...args: Args): Promise<Answer> => {
      assertOwner(who.owner);
      return mask(await work(deps, who, ...args));
    };
  return {
    remember: owned(remember),
    show: owned(show),
    recall: owned(recall),
    find: owned(find),
    byIds: owned(byIds),
    async rawText(who, id) {
      assertOwner(who.owner);
      return (await byIds(deps, who, [id]))[0]?.text;
    },
    forget: owned(forget),
    forgetAll: owned(forgetAll),
    edit: owned(edit),
    verify: owned(verify),
    conflicts: owned(conflicts),
    resolve: owned(resolve),
    exportAll: owned(exportAll),
    importAll: owned(importAll),
    review: { list: owned(listPending), accept: owned(accept), reject: owned(reject) },
    applyLifecycle: owned(applyLifecycle),
    overview: owned(overview),
  };
}

/** Counts the records of an owner. */
async function overview({ store, clock }: FactDeps, { owner }: Who): Promise<Overview> {
  const [{ records }, pending] = await Promise.all([readAll(store, owner), readPending(store, owner)]);
  const current = { persona_core: 0, user_profile: 0, working_rules: 0, task_memory: 0 };
  const holding = currentOf(records, clock.now());
  for (const { domain } of holding) current[domain] += 1;
  return { current, review: pending.records.length, leftOut: records.length - holding.length };
}

/** Texts whose masked form is known: the same facts are given again with each turn. */
const MAX_KNOWN = 5_000;

/** Makes what gives an answer back with the text of each record in it masked: an earlier version may have let a secret in. */
function createMask(scan: SecretScanner): <T>(answer: T) => Promise<T> {
  const known = new Map<string, string>();
  const maskText = async (text: string): Promise<string> => {
    const masked = known.get(text) ?? (await maskSecrets(text, scan));
    keepNewest(known, [text, masked], MAX_KNOWN);
    return masked;
  };
  const mask = async (value: unknown): Promise<unknown> => {
    if (Array.isArray(value)) return Promise.all(value.map(mask));
    if (typeof value !== "object" || value === null) return value;
    if (isRecord(value)) return { ...value, text: await maskText(value.text) };
    const parts = Object.entries(value).map(async ([name, part]) => [name, await mask(part)] as const);
    return Object.fromEntries(await Promise.all(parts));
  };
  return async <T>(answer: T) => (await mask(answer)) as T;
}

function isRecord(value: object): value is Pick<MemoryRecord, "text" | "said_by"> {
  return "said_by" in value && "text" in value && typeof value.text === "string";
}
