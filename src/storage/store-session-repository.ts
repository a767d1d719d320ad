/** Sessions on a LangGraph `BaseStore`: one item a chain, a turn, a delivery. */
import type { BaseStore, Item, PutOperation, SearchItem } from "@langchain/langgraph-checkpoint";
import { z } from "zod";
import { DirectStore } from "#memory/stores/direct-store.ts";
import { errorMessage, LilyError } from "#src/kernel/errors.ts";
import { rankTexts } from "#src/kernel/words.ts";
import { chainSchema, type Chain } from "#src/sessions/chain.ts";
import type {
  DamagedItem,
  DeliveryPointer,
  FailedTurn,
  FoundTurn,
  KeyRef,
  SessionRepository,
  TranscriptRef,
} from "#src/sessions/repository.ts";
import { failedAttemptSchema, turnRecordSchema, type TurnRecord } from "#src/sessions/turn-record.ts";
import {
  chainNamespace,
  chainsOf,
  deliveryNamespace,
  explanationNamespace,
  historyNamespace,
  historyOf,
  sessionIndexNamespace,
  transcriptsOf,
  turnItemKey,
} from "./session-namespaces.ts";
import { fromTurnItem, toTurnItem } from "./turn-item.ts";

const CHAIN_KEY = "chain";
const FAILURES_KEY = "failures";
const MAX_FAILURES = 20;
const PAGE = 200;

const keyRefSchema = z.object({ owner: z.string(), sessionKey: z.string() });
const pointerSchema = z.object({ sessionId: z.string(), turn: z.int().nullable() });
const failuresSchema = z.object({
  failures: z.array(
    z.object({
      sessionId: z.string(),
      deliveryId: z.string(),
      requestId: z.string(),
      at: z.string(),
      code: z.string(),
      message: z.string(),
      node: z.string(),
      text: z.string(),
      attempts: z.array(failedAttemptSchema).optional(),
    }),
  ),
});

/** The words of a turn by which it is found. */
const TURN_INDEX = ["messages[*].content"];

/** Makes the session repository that lives in `store`. */
export function createStoreSessionRepository(store: BaseStore): SessionRepository {
  return {
    readChain: async (ref) => {
      const namespace = chainNamespace(ref);
      const chain = await readItem(store, namespace, CHAIN_KEY, chainSchema);
      return chain === undefined ? undefined : inItsPlace(chain, namespace);
    },
    writeChain: (chain) => store.put(chainNamespace(chain), CHAIN_KEY, chain, false),
    listChains: (owner, onDamaged) => listChains(store, owner, onDamaged),

    findSession: (sessionId) => readItem(store, sessionIndexNamespace, sessionId, keyRefSchema),
    indexSession: (sessionId, { owner, sessionKey }) =>
      store.put(sessionIndexNamespace, sessionId, { owner, sessionKey }, false),

    readTurn: (ref, turn) => readTurn(store, ref, turn),
    orphanTranscripts: (owner, chains) => orphanTranscripts(store, owner, chains),
    lastStoredTurn: (ref) => lastStoredTurn(store, ref),
    readTurns: (ref, range) => readTurns(store, ref, range),
    writeTurn: (ref, record) => writeTurn(store, ref, record),
    searchTurns: (ref, query, limit) => searchTurns(store, ref, { query, limit }),

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

async function readItem<T>(
  store: BaseStore,
  namespace: string[],
  key: string,
  schema: z.ZodType<T>,
): Promise<T | undefined> {
  const item = await store.get(namespace, key);
  // A removed item may come back as null or undefined, by backend.
  return item === null || item === undefined
    ? undefined
    : parseItem(item.value, schema, `${namespace.join("/")}/${key}`);
}

function parseItem<T>(value: unknown, schema: z.ZodType<T>, where: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new LilyError(
    "record_invalid",
    `the stored item ${where} is not what it should be: ${z.prettifyError(parsed.error)}`,
    {
      next: "lily verify names what is damaged; nothing was changed.",
    },
  );
}

async function listChains(
  store: BaseStore,
  owner: string,
  onDamaged: ((damaged: DamagedItem) => void) | undefined,
): Promise<Chain[]> {
  const items = await searchAll(store, chainsOf(owner));
  return items.flatMap((item) => {
    const where = item.namespace.join("/");
    try {
      return [inItsPlace(parseItem(item.value, chainSchema, where), item.namespace)];
    } catch (error) {
      if (onDamaged === undefined) throw error;
      onDamaged({ where, problem: errorMessage(error) });
      return [];
    }
  });
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
  for (let offset = 0; ; offset += PAGE) {
    const page = await store.listNamespaces({ prefix: transcriptsOf(owner), limit: PAGE, offset });
    for (const namespace of page) {
      if (known.has(namespace.join("/"))) continue;
      // Some stores go on listing a namespace that was emptied.
      if ((await store.search(namespace, { limit: 1 })).length > 0) orphans.push(namespace.join("/"));
    }
    if (page.length < PAGE) return orphans;
  }
}

async function lastStoredTurn(store: BaseStore, ref: TranscriptRef): Promise<number> {
  const items = await searchAll(store, historyNamespace(ref));
  return items.reduce((highest, item) => Math.max(highest, Number.parseInt(item.key, 10) || 0), 0);
}

async function readTurn(store: BaseStore, ref: TranscriptRef, turn: number): Promise<TurnRecord | undefined> {
  const item = await store.get(historyNamespace(ref), turnItemKey(turn));
  return item === null || item === undefined ? undefined : parseTurn(item);
}

function parseTurn(item: Item): TurnRecord {
  return parseItem(
    fromTurnItem(item.value, item),
    turnRecordSchema,
    `${item.namespace.join("/")}/${item.key}`,
  );
}

async function readTurns(
  store: BaseStore,
  ref: TranscriptRef,
  range: { readonly from: number; readonly to: number },
): Promise<TurnRecord[]> {
  const namespace = historyNamespace(ref);
  const first = Math.max(1, range.from);
  const keys = Array.from({ length: Math.max(0, range.to - first + 1) }, (_, index) =>
    turnItemKey(first + index),
  );
  // Not `store.batch`: the store that nodes are given throws on it, and batches gets of one tick by itself.
  const items = await Promise.all(keys.map((key) => store.get(namespace, key)));
  return items.filter((item) => item !== null && item !== undefined).map(parseTurn);
}

async function writeTurn(store: BaseStore, ref: TranscriptRef, record: TurnRecord): Promise<void> {
  const deliveries = [record, ...(record.collected ?? [])];
  const puts: PutOperation[] = [
    ...deliveries.map(({ deliveryId }) => ({
      namespace: deliveryNamespace(ref),
      key: deliveryId,
      value: { sessionId: ref.sessionId, turn: record.turn },
      index: false as const,
    })),
    {
      namespace: historyNamespace(ref),
      key: turnItemKey(record.turn),
      value: toTurnItem(record),
      index: TURN_INDEX,
    },
  ];
  // Our stores make a batch one transaction; the store that nodes are given on a server throws on it.
  if (store instanceof DirectStore) return void (await store.batch(puts));
  for (const { namespace, key, value, index } of puts) await store.put(namespace, key, value ?? {}, index);
}

async function searchTurns(
  store: BaseStore,
  ref: KeyRef,
  search: { readonly query: string; readonly limit: number },
): Promise<FoundTurn[]> {
  if (search.query.trim() === "") return [];
  const prefix = historyOf(ref);
  const items = (await store.search(prefix, { query: search.query, limit: search.limit })).filter(
    within(prefix),
  );
  if (items.some((item) => item.score !== undefined))
    return items.map((item) => found(item, item.score ?? 0));
  // This store does not rank by words (LangGraph's development store, InMemoryStore), so rank here.
  const all = await searchAll(store, prefix);
  return rankTexts(all, search.query, (item) => textOf(item))
    .slice(0, search.limit)
    .map(({ item, score }) => found(item, score));
}

function found(item: SearchItem, score: number): FoundTurn {
  const record = parseTurn(item);
  return { sessionId: record.sessionId, record, score };
}

function textOf(item: SearchItem): string {
  const record = turnRecordSchema.safeParse(fromTurnItem(item.value, item));
  return record.success ? record.data.messages.map((message) => message.content).join("\n") : "";
}

async function readFailures(store: BaseStore, ref: TranscriptRef): Promise<FailedTurn[]> {
  const stored = await readItem(store, explanationNamespace(ref), FAILURES_KEY, failuresSchema);
  return stored?.failures ?? [];
}

/** Every item under a prefix, page by page; rows of another namespace that a store lets through are dropped. */
async function searchAll(store: BaseStore, prefix: string[]): Promise<SearchItem[]> {
  const items: SearchItem[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const page = await store.search(prefix, { limit: PAGE, offset });
    items.push(...page.filter(within(prefix)));
    if (page.length < PAGE) return items;
  }
}

function within(prefix: readonly string[]): (item: SearchItem) => boolean {
  return (item) => prefix.every((label, index) => item.namespace[index] === label);
}
