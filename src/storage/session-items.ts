/**
 * Where the items of sessions stand in the Store, every id in a namespace through `encodeLabel`; and how items are read and put:
 * checked by a schema, page by page, and together where a store can.
 */
import type { BaseStore, Item, PutOperation, SearchItem } from "@langchain/langgraph-checkpoint";
import { z } from "zod";
import { AtomicStore } from "#memory/stores/durable-store.ts";
import { isLilyError, LilyError } from "#src/kernel/errors.ts";
import { isRecord } from "#src/kernel/json.ts";
import { decodeLabel, encodeLabel } from "#src/kernel/ids.ts";
import type { KeyRef, TranscriptRef } from "#src/sessions/repository.ts";

const ofOwner =
  (root: string) =>
  (owner: string): string[] => [root, encodeLabel(owner)];

const ofKey =
  (root: string) =>
  ({ owner, sessionKey }: KeyRef): string[] => [root, encodeLabel(owner), encodeLabel(sessionKey)];

const ofSession =
  (root: string) =>
  (ref: TranscriptRef): string[] => [...ofKey(root)(ref), encodeLabel(ref.sessionId)];

/** Owner and key by session id. */
export const sessionIndexNamespace: string[] = ["session-index"];

/** Prefix of all chains of an owner. */
export const chainsOf = ofOwner("sessions");

/** The chain of a key, as the single item `chain`. */
export const chainNamespace = ofKey("sessions");

/** Prefix of all transcripts of an owner. */
export const transcriptsOf = ofOwner("history");

/** Prefix of all turns of a key. */
export const historyOf = ofKey("history");

/** Turns of one session, one item a turn. */
export const historyNamespace = ofSession("history");

/** Key of a turn's item: the number with leading zeros, so that keys sort as turns do. */
export const turnItemKey = (turn: number): string => String(turn).padStart(8, "0");

/** Handled deliveries of a key, one item a delivery id. */
export const deliveryNamespace = ofKey("deliveries");

/** The turn in flight of a key, as the single item {@link IN_FLIGHT_KEY}. */
export const inFlightNamespace = ofKey("in-flight");

/** Key of the item that holds a turn in flight. */
export const IN_FLIGHT_KEY = "turn";

/** Failed turns of one session, as one item. */
export const explanationNamespace = ofSession("explanations");

/** Summaries of a conversation as one of its sessions reads it, one item a range of turns. */
export const summaryNamespace = ofSession("summaries");

/** Bytes and long texts of an owner, one item a content hash. */
export const blobNamespace = ofOwner("blobs");

/** The transcript whose turns lie in a namespace, `undefined` for a namespace of something else. */
export function transcriptIn(namespace: readonly string[]): TranscriptRef | undefined {
  const [kind, owner, sessionKey, sessionId, ...more] = namespace;
  if (kind !== "history" || owner === undefined || sessionKey === undefined) return undefined;
  if (sessionId === undefined || more.length > 0) return undefined;
  return {
    owner: decodeLabel(owner),
    sessionKey: decodeLabel(sessionKey),
    sessionId: decodeLabel(sessionId),
  };
}

const PAGE = 200;

/** An item's value, checked; `undefined` when there is none. @throws {LilyError} `record_invalid` */
export async function readItem<T>(
  store: BaseStore,
  namespace: string[],
  key: string,
  schema: z.ZodType<T>,
): Promise<T | undefined> {
  const item = await getItem(store, namespace, key);
  return item === undefined ? undefined : parseItem(item.value, schema, `${namespace.join("/")}/${key}`);
}

/** An item; `undefined` when there is none. @throws {LilyError} `record_invalid` when its value is no JSON */
export async function getItem(store: BaseStore, namespace: string[], key: string): Promise<Item | undefined> {
  try {
    // A removed item may come back as null or undefined, by backend.
    return (await store.get(namespace, key)) ?? undefined;
  } catch (error) {
    // What a store is given is JSON; what it has may have been cut.
    if (error instanceof SyntaxError) throw invalidItem(`${namespace.join("/")}/${key}`, error.message);
    throw error;
  }
}

/** A stored value, checked; `where` it stands is for the error. @throws {LilyError} `record_invalid` */
export function parseItem<T>(value: unknown, schema: z.ZodType<T>, where: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalidItem(where, z.prettifyError(parsed.error));
}

function invalidItem(where: string, problem: string): LilyError {
  return new LilyError("record_invalid", `the stored item ${where} is not what it should be: ${problem}`, {
    next: "lily verify names what is damaged; nothing was changed.",
  });
}

/**
 * Every item under a prefix that can be read. One whose value is no JSON fails a whole search, so then each namespace's
 * item `key` is read by itself.
 *
 * @param onDamaged told of each that cannot be read
 */
export async function readableItems(
  store: BaseStore,
  { prefix, key }: { readonly prefix: string[]; readonly key: string },
  onDamaged: (namespace: string[], error: LilyError) => void,
): Promise<Item[]> {
  try {
    return await searchAll(store, prefix);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  const items: Item[] = [];
  for (const namespace of await namespacesUnder(store, prefix)) {
    try {
      const item = await getItem(store, namespace, key);
      if (item !== undefined) items.push(item);
    } catch (error) {
      if (!isLilyError(error) || error.code !== "record_invalid") throw error;
      onDamaged(namespace, error);
    }
  }
  return items.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
}

/** The namespaces under a prefix, or all of them, that have items, page by page. */
export async function namespacesUnder(store: BaseStore, prefix?: string[]): Promise<string[][]> {
  const found: string[][] = [];
  for (let offset = 0; ; offset += PAGE) {
    const page = await store.listNamespaces({ ...(prefix && { prefix }), limit: PAGE, offset });
    found.push(...page);
    if (page.length < PAGE) return found;
  }
}

/** Every item under a prefix, page by page; rows of another namespace that a store lets through are dropped. */
export async function searchAll(store: BaseStore, prefix: string[]): Promise<SearchItem[]> {
  const items: SearchItem[] = [];
  for await (const item of itemsUnder(store, prefix)) items.push(item);
  return items;
}

/** As {@link searchAll}, read as they are asked for: nothing under the prefix may be put meanwhile. */
export async function* itemsUnder(store: BaseStore, prefix: string[]): AsyncGenerator<SearchItem> {
  for (let offset = 0; ; offset += PAGE) {
    const page = await store.search(prefix, { limit: PAGE, offset });
    yield* page.filter(within(prefix));
    if (page.length < PAGE) return;
  }
}

/** Whether an item lies under a prefix of labels. */
export function within(prefix: readonly string[]): (item: SearchItem) => boolean {
  return (item) => prefix.every((label, index) => item.namespace[index] === label);
}

/**
 * Puts items in order, and removes those whose value is `null`: our stores make it one transaction; the store that nodes
 * are given on a server throws on a batch.
 */
export async function putAll(store: BaseStore, puts: readonly PutOperation[]): Promise<void> {
  if (puts.length === 0) return;
  if (store instanceof AtomicStore) return void (await store.batch([...puts]));
  for (const { namespace, key, value, index } of puts) {
    if (value === null) await store.delete(namespace, key);
    else await store.put(namespace, key, value, index);
  }
}

/**
 * The record or mark of a turn's item, to be checked by its schema. What is stored today is the record itself and comes back
 * as it is. Until 0.1 an item lacked what its place, or the turn itself, says: it is given that, so that its seal verifies.
 * No item is ever written again.
 */
export function fromTurnItem(
  item: unknown,
  { namespace, key }: { readonly namespace: readonly string[]; readonly key: string },
): unknown {
  if (!isRecord(item)) return item;
  const sessionId = decodeLabel(namespace.at(-1) ?? "");
  const own = { v: 1, kind: "chat", sessionId, turn: Number.parseInt(key, 10) };
  if ("redacted" in item) return { ...own, ...item };
  const { messages, explanation, at } = item;
  return {
    ...own,
    status: "completed",
    reply: {},
    ...item,
    messages: eachWith(messages, { timestamp: at }),
    explanation: withOwnSession(explanation, sessionId),
  };
}

/** The receipt's ranges of turns, of which those of the own session were not named. */
function withOwnSession(explanation: unknown, sessionId: string): unknown {
  if (!isRecord(explanation) || !isRecord(explanation["receipt"])) return explanation;
  const { receipt } = explanation;
  return { ...explanation, receipt: { ...receipt, turns: eachWith(receipt["turns"], { sessionId }) } };
}

/** Each record of a list with the fields that it lacks; what is no list, or no record, stays what it is. */
function eachWith(list: unknown, fields: Record<string, unknown>): unknown {
  if (!Array.isArray(list)) return list;
  return list.map((item: unknown) => (isRecord(item) ? { ...fields, ...item } : item));
}
