/** Erases everything of one person, and answers with a receipt. Done again, it finishes what a crash left. */
import type { BaseStore, SearchItem } from "@langchain/langgraph-checkpoint";
import { toInstant } from "#src/kernel/clock.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { decodeLabel, encodeLabel } from "#src/kernel/namespace-label.ts";
import type { KeyRef } from "#src/sessions/repository.ts";
import { itemsUnder, putAll } from "#src/storage/session-items.ts";
import { sessionIndexNamespace } from "#src/storage/session-namespaces.ts";
import { parseOwner } from "#src/sessions/session-key.ts";
import { hasCheckpoints } from "./checkpoints.ts";
import type { ErasureDeps } from "./erasure-deps.ts";
import { KeyLeases } from "./key-leases.ts";
import { namespacesOf } from "./owner-namespaces.ts";
import { OwnerTally } from "./owner-tally.ts";
import { eraseTyped } from "./typed-line.ts";
import { makeReceipt, type Receipt } from "./receipt.ts";

/** What is kept of a person. */
export interface OwnerTraces {
  /** Every namespace of theirs, with the number of items in it. */
  readonly namespaces: readonly { readonly namespace: readonly string[]; readonly items: number }[];
  readonly keys: readonly KeyRef[];
  /** Threads of theirs, by the index, the chains and the transcripts. */
  readonly threads: readonly string[];
  /** Entries of the session index that are theirs. */
  readonly indexed: readonly string[];
}

/** Looks for it. Changes nothing. */
export async function findOwner(
  { storage }: Pick<ErasureDeps, "storage">,
  owner: string,
): Promise<OwnerTraces> {
  parseOwner(owner);
  const { store } = storage;
  const namespaces: { namespace: string[]; items: number }[] = [];
  const threads = new Set<string>();
  const keys = new Set<string>();
  for (const namespace of await namespacesOf(store, owner)) {
    let items = 0;
    for await (const item of itemsIn(store, namespace)) {
      items += 1;
      if (namespace[0] === "sessions") for (const id of sessionIdsIn(item)) threads.add(id);
    }
    if (items === 0) continue;
    namespaces.push({ namespace, items });
    const [root, , key, session] = namespace;
    if (key !== undefined && KEYED.has(root ?? "")) keys.add(decodeLabel(key));
    if (session !== undefined && KEYED.has(root ?? "")) threads.add(decodeLabel(session));
  }
  const indexed: string[] = [];
  for await (const { key, value } of itemsUnder(store, sessionIndexNamespace)) {
    if (value["owner"] !== owner) continue;
    indexed.push(key);
    threads.add(key);
    if (typeof value["sessionKey"] === "string") keys.add(value["sessionKey"]);
  }
  return {
    namespaces,
    keys: [...keys].sort().map((sessionKey) => ({ owner, sessionKey })),
    threads: [...threads],
    indexed,
  };
}

/** Roots whose third label is a session key, and whose fourth, if there is one, a session. */
const KEYED: ReadonlySet<string> = new Set([
  "sessions",
  "history",
  "deliveries",
  "explanations",
  "stop-requests",
]);

/**
 * Erases it.
 *
 * @throws {LilyError} `turn_running` when a turn of the person runs; then nothing was changed
 */
export async function eraseOwner(deps: ErasureDeps, owner: string): Promise<Receipt> {
  const { storage, clock } = deps;
  const at = toInstant(Math.trunc(clock.now()));
  const leases = new KeyLeases(storage.locks, { waitMs: deps.keyWaitMs });
  const tally = new OwnerTally(deps, owner);
  try {
    await takeAll(deps, owner, leases);
    await eraseAll(deps, owner, { leases, tally });
  } finally {
    await leases.release();
  }
  tally.locks = (await storage.erasure?.forgetLocks(`turn/${encodeLabel(owner)}/`)) ?? 0;
  const lines = [eraseTyped(deps, owner, () => true), ...(await tally.lines())];
  return makeReceipt({ what: "person", at, lines });
}

/** A key may begin while others are waited for. */
const LOOKS = 2;

async function takeAll(deps: ErasureDeps, owner: string, leases: KeyLeases): Promise<void> {
  for (let look = 1; look <= LOOKS; look += 1) {
    await leases.take((await findOwner(deps, owner)).keys);
    if (leases.busy.length > 0) throw stillRunning(leases.busy);
  }
}

function stillRunning(busy: readonly string[]): LilyError {
  const names = busy.map((key) => JSON.stringify(key)).join(", ");
  return new LilyError("turn_running", `a turn is running on ${names}`, {
    next: "Try again when it has ended. Nothing was changed.",
  });
}

/** What leads to other things goes after them: threads first, chains and index last. */
async function eraseAll(
  deps: ErasureDeps,
  owner: string,
  { leases, tally }: { readonly leases: KeyLeases; readonly tally: OwnerTally },
): Promise<void> {
  const { storage } = deps;
  const { checkpointer, store } = storage;
  const { namespaces, threads, indexed } = await findOwner(deps, owner);
  for (const threadId of threads) {
    if (!(await hasCheckpoints(storage, threadId))) continue;
    await checkpointer.deleteThread(threadId);
    tally.threads += 1;
  }
  const inOrder = namespaces.toSorted((a, b) => rankOf(a.namespace) - rankOf(b.namespace));
  for (const { namespace } of inOrder) {
    leases.assertHeld();
    const items: SearchItem[] = [];
    for await (const item of itemsIn(store, namespace)) items.push(item);
    await removeItems(store, items);
    tally.count(namespace, items.length);
  }
  await removeItems(
    store,
    indexed.map((key) => ({ namespace: sessionIndexNamespace, key })),
  );
  tally.indexed += indexed.length;
}

function rankOf([root]: readonly string[]): number {
  return root === "sessions" ? 1 : 0;
}

/** Items of exactly this namespace. */
async function* itemsIn(store: BaseStore, namespace: readonly string[]): AsyncGenerator<SearchItem> {
  for await (const item of itemsUnder(store, [...namespace])) {
    if (item.namespace.length === namespace.length) yield item;
  }
}

const BATCH = 200;

async function removeItems(
  store: BaseStore,
  items: readonly Pick<SearchItem, "namespace" | "key">[],
): Promise<void> {
  for (let from = 0; from < items.length; from += BATCH) {
    const batch = items.slice(from, from + BATCH);
    await putAll(
      store,
      batch.map(({ namespace, key }) => ({ namespace, key, value: null })),
    );
  }
}

function sessionIdsIn({ value }: SearchItem): string[] {
  const sessions: unknown = value["sessions"];
  if (!Array.isArray(sessions)) return [];
  return sessions.flatMap((session: unknown) => {
    const id: unknown =
      typeof session === "object" && session !== null && "sessionId" in session
        ? session.sessionId
        : undefined;
    return typeof id === "string" ? [id] : [];
  });
}
