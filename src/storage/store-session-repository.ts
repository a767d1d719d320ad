/** Sessions on a LangGraph `BaseStore`: one item a chain, a turn, a delivery. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { z } from "zod";
import { errorMessage, LilyError } from "#src/kernel/errors.ts";
import { decodeLabel } from "#src/kernel/ids.ts";
import { keepNewest } from "#src/kernel/keep-newest.ts";
import { chainSchema, type Chain } from "#src/sessions/chain.ts";
import {
  failedTurnSchema,
  keyRefSchema,
  pointerSchema,
  type DamagedItem,
  type DeliveryPointer,
  type FailedTurn,
  type KeyRef,
  type SessionRepository,
  type TranscriptRef,
} from "#src/sessions/repository.ts";
import { namespacesUnder, parseItem, readableItems, readItem, within } from "./session-items.ts";
import {
  chainNamespace,
  chainsOf,
  deliveryNamespace,
  explanationNamespace,
  historyNamespace,
  historyOf,
  sessionIndexNamespace,
  transcriptsOf,
} from "./session-namespaces.ts";
import { redactTurns, type ChainMethods } from "./store-redaction.ts";
import { turnMethods, type TurnOptions } from "./store-turns.ts";

const CHAIN_KEY = "chain";
const FAILURES_KEY = "failures";
const MAX_FAILURES = 20;

const failuresSchema = z.object({ failures: z.array(failedTurnSchema) });

/** Makes the session repository that lives in `store`. */
export function createStoreSessionRepository(store: BaseStore, options: TurnOptions = {}): SessionRepository {
  const chains: ChainMethods = {
    readChain: async (ref) => {
      const namespace = chainNamespace(ref);
      const chain = await readItem(store, namespace, CHAIN_KEY, parseChain);
      return chain === undefined ? undefined : inItsPlace(chain, namespace);
    },
    writeChain: (chain) => store.put(chainNamespace(chain), CHAIN_KEY, chain, false),
    listChains: (owner, onDamaged) => listChains(store, owner, onDamaged),
  };
  return {
    ...chains,
    readChain: async (ref) => (await chains.readChain(ref)) ?? assertUnused(store, ref),
    redactTurns: (ref, turns, at) => redactTurns(store, chains, { ref, turns, at }),

    findSession: (sessionId) => readItem(store, sessionIndexNamespace, sessionId, keyRefSchema),
    indexSession: (sessionId, { owner, sessionKey }) =>
      store.put(sessionIndexNamespace, sessionId, { owner, sessionKey }, false),

    ...turnMethods(store, options),
    orphanTranscripts: (owner, chains) => orphanTranscripts(store, owner, chains),

    readDelivery: (ref, deliveryId) => readItem(store, deliveryNamespace(ref), deliveryId, pointerSchema),
    writeDelivery: (ref, deliveryId, pointer: DeliveryPointer) =>
      store.put(deliveryNamespace(ref), deliveryId, { ...pointer }, false),

    readFailures: (ref) => readFailures(store, ref),
    writeFailure: async (ref, failure) => {
      const failures = [...(await readFailures(store, ref)), failure].slice(-MAX_FAILURES);
      await store.put(explanationNamespace(ref), FAILURES_KEY, { failures }, false);
    },
  };
}

/** Chains that were checked last, by what is stored: each turn reads one that has mostly not changed since the last. */
const CHECKED = new Map<string, Chain>();
const MAX_CHECKED = 64;

/** @throws {LilyError} `record_invalid` */
function parseChain(value: unknown, where: string): Chain {
  const text = JSON.stringify(value);
  const known = CHECKED.get(text);
  if (known !== undefined) return known;
  const chain = parseItem(value, chainSchema, where);
  keepNewest(CHECKED, [text, chain], MAX_CHECKED);
  return chain;
}

async function listChains(
  store: BaseStore,
  owner: string,
  onDamaged: ((damaged: DamagedItem) => void) | undefined,
): Promise<Chain[]> {
  const damaged = (namespace: readonly string[], error: unknown): void => {
    if (onDamaged === undefined) throw error;
    const key = JSON.stringify(decodeLabel(namespace[2] ?? ""));
    const problem = `the chain of the key ${key} cannot be read: ${errorMessage(error)}`;
    onDamaged({ where: namespace.join("/"), problem });
  };
  const items = await readableItems(store, { prefix: chainsOf(owner), key: CHAIN_KEY }, damaged);
  return items.flatMap(({ namespace, value }) => {
    try {
      return [inItsPlace(parseItem(value, chainSchema, namespace.join("/")), namespace)];
    } catch (error) {
      damaged(namespace, error);
      return [];
    }
  });
}

/** A key without a chain has no turns: beginning anew would hide those that are there. @throws {LilyError} `record_invalid` */
async function assertUnused(store: BaseStore, ref: KeyRef): Promise<undefined> {
  const turns = await store.search(historyOf(ref), { limit: 1 });
  if (turns.filter(within(historyOf(ref))).length === 0) return;
  throw new LilyError(
    "record_invalid",
    `the chain of the key ${JSON.stringify(ref.sessionKey)} is missing, and there are turns of it`,
    {
      next: "Restore a backup (lily restore <folder>), or go on under another key. lily verify names what is there; nothing was changed.",
    },
  );
}

/** A chain that stands under another owner or key than its own is damaged. */
function inItsPlace(chain: Chain, namespace: readonly string[]): Chain {
  if (chainNamespace(chain).join("/") === namespace.join("/")) return chain;
  throw new LilyError(
    "record_invalid",
    `the chain stored at ${namespace.join("/")} says that it is of ${JSON.stringify(chain.sessionKey)}`,
    { next: "lily verify names what is damaged; nothing was changed." },
  );
}

async function orphanTranscripts(
  store: BaseStore,
  owner: string,
  chains: readonly Chain[],
): Promise<string[]> {
  const known = new Set(
    chains.flatMap((chain) =>
      chain.sessions.map(({ sessionId }) => historyNamespace({ ...chain, sessionId }).join("/")),
    ),
  );
  const orphans: string[] = [];
  for (const namespace of await namespacesUnder(store, transcriptsOf(owner))) {
    if (known.has(namespace.join("/"))) continue;
    // Some stores go on listing a namespace that was emptied.
    if ((await store.search(namespace, { limit: 1 })).length > 0) orphans.push(namespace.join("/"));
  }
  return orphans;
}

async function readFailures(store: BaseStore, ref: TranscriptRef): Promise<FailedTurn[]> {
  const stored = await readItem(store, explanationNamespace(ref), FAILURES_KEY, failuresSchema);
  return stored?.failures ?? [];
}
