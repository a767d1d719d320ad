/** The fact store: the one way to long-term memory, for commands, tools, imports and jobs alike. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { assertOwner } from "../namespaces.ts";
import { maskSecrets } from "../policy/find-secrets.ts";
import type { SecretScanner } from "../policy/secret-scanner.ts";
import type { Domain, MemoryRecord } from "../record.ts";
import { accept, conflicts, listPending, reject, resolve, verify } from "./confirm.ts";
import { edit } from "./edit.ts";
import { forget, forgetAll } from "./forget.ts";
import { exportAll, importAll } from "./import.ts";
import { byIds, currentOf, find, recall, show } from "./read.ts";
import { remember } from "./remember.ts";
import { applyLifecycle } from "./retention.ts";
import { type FactDeps, readAll, readPending } from "./rows.ts";
import type { Who } from "./types.ts";

/**
 * Long-term memory of every owner. `who` comes from the run's own context; nothing in a text or a tool's arguments
 * reaches another owner. Every write passes the policy gate, and every decision reads again right before it writes.
 * Each call throws `memory_owner_missing` for an empty owner, `memory_input_invalid` for malformed options, and what the
 * store throws. All else is an answer, in which secrets that an earlier version let in are masked.
 */
export type FactStore = ReturnType<typeof createFactStore>;

/** The fact store on `store`, which may be any LangGraph store, also the one a graph node is given. */
export function createFactStore(store: BaseStore, outside: Omit<FactDeps, "store">) {
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
    /** The text of the record with this full id as it is stored, for an erasure alone: everything else is given masked. */
    async rawText(who: Who, id: string): Promise<string | undefined> {
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
    /** What was put aside for a review. Ids are full ones. */
    review: { list: owned(listPending), accept: owned(accept), reject: owned(reject) },
    applyLifecycle: owned(applyLifecycle),
    overview: owned(overview),
  };
}

/** How many facts hold now, by domain, how many wait for a review, and how many are kept but not read. */
async function overview({ store, clock }: FactDeps, { owner }: Who) {
  const [{ records }, pending] = await Promise.all([readAll(store, owner), readPending(store, owner)]);
  const current: Record<Domain, number> = {
    persona_core: 0,
    user_profile: 0,
    working_rules: 0,
    task_memory: 0,
  };
  const holding = currentOf(records, clock.now());
  for (const { domain } of holding) current[domain] += 1;
  return { current, review: pending.records.length, leftOut: records.length - holding.length };
}

/** Texts whose masked form is known, for the same facts are given again with each turn; beyond them all are forgotten. */
const MAX_KNOWN = 5_000;

/** Makes what gives an answer back with the text of each record in it masked: an earlier version may have let a secret in. */
function createMask(scan: SecretScanner): <T>(answer: T) => Promise<T> {
  const known = new Map<string, string>();
  const maskText = async (text: string): Promise<string> => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const masked = await maskSecrets(text, scan);
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(text, masked);
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
