/** Sessions on a LangGraph `BaseStore`: one item a chain, a turn, a delivery, a content. */
import type { BaseStore, Item, PutOperation, SearchItem } from "@langchain/langgraph-checkpoint";
import { z } from "zod";
import { errorMessage, isLilyError, LilyError } from "#src/kernel/errors.ts";
import { decodeLabel } from "#src/kernel/ids.ts";
import { rankTexts } from "#src/kernel/words.ts";
import { chainSchema, type Chain } from "#src/sessions/chain.ts";
import { isRedacted, redactedTurnSchema, wholeTurns, type StoredTurn } from "#src/sessions/redaction.ts";
import {
  failedTurnSchema,
  keyRefSchema,
  pointerSchema,
  type BlobStore,
  type DamagedItem,
  type FailedTurn,
  type FoundTurn,
  type KeyRef,
  type SessionRepository,
  type TranscriptRef,
} from "#src/sessions/repository.ts";
import { sha256Of } from "#src/sessions/seal.ts";
import { turnRecordSchema, type TurnRecord } from "#src/sessions/turn-record.ts";
import {
  fromTurnItem,
  getItem,
  namespacesUnder,
  parseItem,
  putAll,
  readableItems,
  readItem,
  searchAll,
  within,
  blobNamespace,
  chainNamespace,
  chainsOf,
  deliveryNamespace,
  explanationNamespace,
  historyNamespace,
  historyOf,
  IN_FLIGHT_KEY,
  inFlightNamespace,
  sessionIndexNamespace,
  transcriptIn,
  transcriptsOf,
  turnItemKey,
} from "./session-items.ts";
import { redactTurns, type ChainMethods } from "./store-redaction.ts";

const CHAIN_KEY = "chain";
const FAILURES_KEY = "failures";
const MAX_FAILURES = 20;

const failuresSchema = z.object({ failures: z.array(failedTurnSchema) });

/** The words of a turn by which it is found: what the user said, and, lighter, what an assistant said to it. */
const TURN_INDEX = ["messages[0].content", "messages[1:].content"];
/** Where the other side is a person, all of it counts alike. */
const PEOPLE_INDEX = ["messages[*].content"];

/** How turns are kept. */
export interface RepositoryOptions {
  /** Whether people, and no assistant, answer on a key. */
  readonly isWithPeople?: (sessionKey: string) => boolean;
}

/** Makes the session repository that lives in `store`. */
export function createStoreSessionRepository(
  store: BaseStore,
  { isWithPeople }: RepositoryOptions = {},
): SessionRepository {
  const chains: ChainMethods = {
    readChain: async (ref) => {
      const namespace = chainNamespace(ref);
      const chain = await readItem(store, namespace, CHAIN_KEY, chainSchema);
      return chain === undefined ? undefined : inItsPlace(chain, namespace);
    },
    writeChain: (chain) => store.put(chainNamespace(chain), CHAIN_KEY, chain, false),
  };
  const readStoredTurn: SessionRepository["readStoredTurn"] = async (ref, turn) => {
    const item = await getItem(store, historyNamespace(ref), turnItemKey(turn));
    return item === undefined ? undefined : parseTurn(item);
  };
  const readStoredTurns: SessionRepository["readStoredTurns"] = async (ref, { from, to }) => {
    const first = Math.max(1, from);
    const numbers = Array.from({ length: Math.max(0, to - first + 1) }, (_, index) => first + index);
    // Not `store.batch`: the store that nodes are given throws on it, and batches gets of one tick by itself.
    const turns = await Promise.all(numbers.map((turn) => readStoredTurn(ref, turn)));
    return turns.filter((turn) => turn !== undefined);
  };
  const readFailures = async (ref: TranscriptRef): Promise<FailedTurn[]> =>
    (await readItem(store, explanationNamespace(ref), FAILURES_KEY, failuresSchema))?.failures ?? [];
  return {
    ...chains,
    readChain: async (ref) => (await chains.readChain(ref)) ?? assertUnused(store, ref),
    listChains: (owner, onDamaged) => listChains(store, owner, onDamaged),
    redactTurns: (ref, turns, at) => redactTurns(store, chains, { ref, turns, at }),

    findSession: (sessionId) => readItem(store, sessionIndexNamespace, sessionId, keyRefSchema),
    indexSession: (sessionId, { owner, sessionKey }) =>
      store.put(sessionIndexNamespace, sessionId, { owner, sessionKey }, false),

    readStoredTurn,
    readStoredTurns,
    readTurn: async (ref, turn) => {
      const stored = await readStoredTurn(ref, turn);
      return stored === undefined || isRedacted(stored) ? undefined : stored;
    },
    readTurns: async (ref, range) => wholeTurns(await readStoredTurns(ref, range)),
    lastStoredTurn: (ref) => lastStoredTurn(store, ref),
    orphanTranscripts: (owner, known) => orphanTranscripts(store, owner, known),
    writeTurn: (ref, record) =>
      putAll(store, putsOf(ref, record, isWithPeople?.(ref.sessionKey) === true ? PEOPLE_INDEX : TURN_INDEX)),
    searchTurns: (ref, query, limit) => searchTurns(store, ref, { query, limit }),

    readDelivery: (ref, deliveryId) => readItem(store, deliveryNamespace(ref), deliveryId, pointerSchema),
    writeDelivery: (ref, deliveryId, pointer) =>
      store.put(deliveryNamespace(ref), deliveryId, { ...pointer }, false),

    readFailures,
    writeFailure: async (ref, failure) => {
      const failures = [...(await readFailures(ref)), failure].slice(-MAX_FAILURES);
      await store.put(explanationNamespace(ref), FAILURES_KEY, { failures }, false);
    },
  };
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

/** Found in steps that double, as long as there is no gap. What stands behind one is found by reading all. */
async function lastStoredTurn(store: BaseStore, ref: TranscriptRef): Promise<number> {
  const namespace = historyNamespace(ref);
  let last = 0;
  let beyond = 1;
  while (await isStored(store, namespace, beyond)) {
    last = beyond;
    beyond *= 2;
  }
  while (beyond - last > 1) {
    const middle = Math.floor((last + beyond) / 2);
    if (await isStored(store, namespace, middle)) last = middle;
    else beyond = middle;
  }
  if ((await store.search(namespace, { limit: 1, offset: last })).length === 0) return last;
  const items = await searchAll(store, namespace);
  return items.reduce((highest, item) => Math.max(highest, Number.parseInt(item.key, 10) || 0), last);
}

async function isStored(store: BaseStore, namespace: string[], turn: number): Promise<boolean> {
  try {
    return (await getItem(store, namespace, turnItemKey(turn))) !== undefined;
  } catch (error) {
    // One that cannot be read is there.
    if (isLilyError(error) && error.code === "record_invalid") return true;
    throw error;
  }
}

/** The turn or mark of an item. @throws {LilyError} `record_invalid` */
function parseTurn(item: Item): StoredTurn {
  // Not a union: what is wrong with a turn is told without what is wrong with it as a mark.
  const schema: z.ZodType<StoredTurn> = "redacted" in item.value ? redactedTurnSchema : turnRecordSchema;
  return parseItem(fromTurnItem(item.value, item), schema, `${item.namespace.join("/")}/${item.key}`);
}

/** The record behind where its deliveries went; what is committed is not in flight any more. */
function putsOf(ref: TranscriptRef, record: TurnRecord, index: string[]): PutOperation[] {
  const { sessionId, turn } = record;
  const deliveries = [record, ...(record.collected ?? [])].map(({ deliveryId }) => ({
    namespace: deliveryNamespace(ref),
    key: deliveryId,
    value: { sessionId, turn },
    index: false as const,
  }));
  return [
    ...deliveries,
    { namespace: historyNamespace(ref), key: turnItemKey(turn), value: { ...record }, index },
    { namespace: inFlightNamespace(ref), key: IN_FLIGHT_KEY, value: null },
  ];
}

async function searchTurns(
  store: BaseStore,
  ref: KeyRef,
  search: { readonly query: string; readonly limit: number },
): Promise<FoundTurn[]> {
  if (search.query.trim() === "") return [];
  const prefix = historyOf(ref);
  const items = (await store.search(prefix, search)).filter(within(prefix));
  if (items.some((item) => item.score !== undefined))
    return items.flatMap((item) => found(item, item.score ?? 0));
  // This store does not rank by words (LangGraph's development store, InMemoryStore), so rank here.
  return rankTexts(await searchAll(store, prefix), search.query, textOf)
    .slice(0, search.limit)
    .flatMap(({ item, score }) => found(item, score));
}

/** By its place alone: records are read only of what is shown. */
function found({ namespace, key, value }: SearchItem, score: number): FoundTurn[] {
  const place = transcriptIn(namespace);
  if (place === undefined || "redacted" in value) return [];
  return [{ sessionId: place.sessionId, turn: Number.parseInt(key, 10), score }];
}

function textOf(item: SearchItem): [said: string, replies: string] {
  const record = turnRecordSchema.safeParse(fromTurnItem(item.value, item));
  const [said = "", ...replies] = record.success ? record.data.messages.map(({ content }) => content) : [];
  return [said, replies.join("\n")];
}

const blobItemSchema = z.object({ v: z.literal(1), mimeType: z.string(), base64: z.string() });

/** Makes the blobs that live in `store`: one item a content hash in the namespace of the owner. */
export function createBlobStore(store: BaseStore): BlobStore {
  return {
    async keep(owner, { mimeType, bytes }) {
      const sha256 = sha256Of(bytes);
      // What is there is the same: a put would only write the same megabytes again.
      if (((await store.get(blobNamespace(owner), sha256)) ?? undefined) === undefined) {
        const item = { v: 1, mimeType, base64: Buffer.from(bytes).toString("base64") };
        await store.put(blobNamespace(owner), sha256, item, false);
      }
      return sha256;
    },
    async read(owner, sha256) {
      const item = await store.get(blobNamespace(owner), sha256);
      if (item === null || item === undefined) return undefined;
      const { data, success } = blobItemSchema.safeParse(item.value);
      const bytes = new Uint8Array(Buffer.from(data?.base64 ?? "", "base64"));
      if (success && sha256Of(bytes) === sha256) return { mimeType: data.mimeType, bytes };
      throw new LilyError("record_invalid", `the stored content ${sha256} is not what its hash says`, {
        next: "lily verify names what is damaged; nothing was changed.",
      });
    },
  };
}
