/** Finds every trace of what is to be erased, in all that is kept of one owner. Changes nothing. */
import type { Item } from "@langchain/langgraph-checkpoint";
import { decodeLabel, encodeLabel } from "#src/kernel/namespace-label.ts";
import { stringsIn } from "#src/kernel/strings-in.ts";
import { lineageOf, type Chain } from "#src/sessions/chain.ts";
import { partsSaying } from "#src/sessions/erase-from-chain.ts";
import type { KeyRef, SayingTurn } from "#src/sessions/repository.ts";
import { itemsUnder, searchAll } from "#src/storage/session-items.ts";
import { explanationsOf } from "#src/storage/session-namespaces.ts";
import { failuresIn, failureSays } from "#src/storage/store-redaction.ts";
import { createStoreSessionRepository } from "#src/storage/store-session-repository.ts";
import { lockName } from "#src/turns/lock-name.ts";
import { findSaying, type SayingRecords } from "#memory/book/forget-saying.ts";
import { pieceNamespace } from "#memory/evidence/evidence-namespaces.ts";
import type { Desk } from "#memory/book/desk.ts";
import { findBlobs } from "./blobs.ts";
import { hasCheckpoints, threadSays } from "./checkpoints.ts";
import type { ErasureDeps } from "./erasure-deps.ts";
import type { Says } from "./says.ts";

/** A thread with the key to which it belongs. */
export interface OwnedThread {
  readonly ref: KeyRef;
  readonly sessionId: string;
}

/** All that says it. */
export interface Traces {
  readonly turns: readonly SayingTurn[];
  /** Keys with failed turns that say it, one for each failed turn. */
  readonly failures: readonly KeyRef[];
  /** Keys with titles and names of tasks in their chains that say it, one for each. */
  readonly titles: readonly KeyRef[];
  readonly threads: readonly OwnedThread[];
  readonly blobs: readonly string[];
  readonly evidence: readonly Pick<Item, "namespace" | "key">[];
  readonly memory: SayingRecords;
}

/** What is looked for. */
export interface Search {
  readonly owner: string;
  readonly says: Says;
  /** The chains of the owner, where they were read already. */
  readonly chains?: readonly Chain[];
}

/** Finds them. */
export async function findTraces(deps: ErasureDeps, desk: Desk, search: Search): Promise<Traces> {
  const { store } = deps.storage;
  const { owner, says, chains = await chainsOf(deps, owner) } = search;
  const said = await findSaid(deps, desk, { ...search, chains });
  const erasedTurns = said.turns.map(({ ref, turn }) => ({ sessionId: ref.sessionId, turn }));
  return {
    ...said,
    threads: await threadsSaying(deps, chains, { owner, says, turns: said.turns }),
    blobs: await findBlobs(store, { owner, says, turns: erasedTurns }),
    evidence: await evidenceSaying(deps, search),
  };
}

/** What persons and models said themselves: turns, titles, facts. */
export type Said = Pick<Traces, "turns" | "failures" | "titles" | "memory">;

/** Finds that alone. */
export async function findSaid(deps: ErasureDeps, desk: Desk, search: Search): Promise<Said> {
  const { owner, says, chains = await chainsOf(deps, owner) } = search;
  const turns: SayingTurn[] = [];
  const repository = createStoreSessionRepository(deps.storage.store);
  for await (const turn of repository.findTurns(owner, says)) turns.push(turn);
  return {
    turns,
    failures: await failuresSaying(deps, search),
    titles: chains.flatMap((chain) => titlesSaying(chain, says)),
    memory: await findSaying(desk, { owner }, says),
  };
}

/** The chains of an owner; of one that cannot be read nothing can be found. */
export function chainsOf({ storage }: ErasureDeps, owner: string): Promise<Chain[]> {
  return createStoreSessionRepository(storage.store).listChains(owner, () => undefined);
}

/** Whether nothing was found. */
export function isNothing({ memory, ...traces }: Traces): boolean {
  const rest: readonly unknown[][] = Object.values(traces).map((found: readonly unknown[]) => [...found]);
  return memory.records.length + memory.unreadable.length === 0 && rest.every((found) => found.length === 0);
}

/** The keys whose locks the erasure needs. */
export function keysOf({ turns, failures, titles, threads }: Traces): KeyRef[] {
  const refs = [...turns.map(({ ref }) => ref), ...failures, ...titles, ...threads.map(({ ref }) => ref)];
  return [...new Map(refs.map((ref) => [lockName(ref), keyOf(ref)])).values()];
}

function keyOf({ owner, sessionKey }: KeyRef): KeyRef {
  return { owner, sessionKey };
}

async function failuresSaying({ storage }: ErasureDeps, { owner, says }: Search): Promise<KeyRef[]> {
  const found: KeyRef[] = [];
  for (const { namespace, value } of await searchAll(storage.store, explanationsOf(owner))) {
    const sessionKey = decodeLabel(namespace[2] ?? "");
    for (const failure of failuresIn(value))
      if (failureSays(failure, says)) found.push({ owner, sessionKey });
  }
  return found;
}

function titlesSaying(chain: Chain, says: Says): KeyRef[] {
  return chain.sessions.flatMap((entry) => partsSaying(entry, says)).map(() => keyOf(chain));
}

async function evidenceSaying(
  { storage }: ErasureDeps,
  { owner, says }: Search,
): Promise<Traces["evidence"]> {
  const found: Pick<Item, "namespace" | "key">[] = [];
  for await (const { namespace, key, value } of itemsUnder(storage.store, ["evidence", encodeLabel(owner)])) {
    if (!says([key, ...stringsIn(value)].join("\n"))) continue;
    found.push({ namespace, key });
    // A document whose own name or path says it goes with all of its pieces.
    const [, , collection = "", kind] = namespace;
    if (kind !== "sources") continue;
    const pieces = pieceNamespace({ owner, collection: decodeLabel(collection) }, key);
    for await (const piece of itemsUnder(storage.store, pieces)) found.push(piece);
  }
  return [...new Map(found.map((item) => [`${item.namespace.join("/")}/${item.key}`, item])).values()];
}

interface ThreadSearch extends Search {
  readonly turns: readonly SayingTurn[];
}

/** Threads whose states say it, or hold what is erased: of the sessions themselves, and of those that read them. */
async function threadsSaying(
  { storage, threadsOf }: ErasureDeps,
  chains: readonly Chain[],
  { owner, says, turns }: ThreadSearch,
): Promise<OwnedThread[]> {
  const doomed = new Set(turns.map(({ ref }) => ref.sessionId));
  const found: OwnedThread[] = [];
  const known = new Set<string>();
  for (const chain of chains) {
    for (const { sessionId } of chain.sessions) {
      const reads = lineageOf(chain, sessionId).some((id) => doomed.has(id));
      const goes = reads
        ? await hasCheckpoints(storage, sessionId)
        : await threadSays(storage, sessionId, says);
      if (goes) found.push({ ref: keyOf(chain), sessionId });
      known.add(sessionId);
    }
  }
  for (const sessionId of (await threadsOf?.(owner)) ?? []) {
    // A thread that is addressed by itself is its own key.
    if (!known.has(sessionId) && (await threadSays(storage, sessionId, says)))
      found.push({ ref: { owner, sessionKey: sessionId }, sessionId });
  }
  return found;
}
