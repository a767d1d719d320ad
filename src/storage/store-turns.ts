/** Turns in the Store: one item a turn under its session, found by number and by words. */
import type { BaseStore, Item, PutOperation, SearchItem } from "@langchain/langgraph-checkpoint";
import type { z } from "zod";
import { isLilyError } from "#src/kernel/errors.ts";
import { rankTexts } from "#src/kernel/words.ts";
import { isRedacted, redactedTurnSchema, wholeTurns, type StoredTurn } from "#src/sessions/redaction.ts";
import type { FoundTurn, KeyRef, SessionRepository, TranscriptRef } from "#src/sessions/repository.ts";
import { turnRecordSchema, type TurnRecord } from "#src/sessions/turn-record.ts";
import { getItem, parseItem, putAll, searchAll, within } from "./session-items.ts";
import {
  deliveryNamespace,
  historyNamespace,
  historyOf,
  IN_FLIGHT_KEY,
  inFlightNamespace,
  transcriptIn,
  turnItemKey,
} from "./session-namespaces.ts";
import { fromTurnItem } from "./turn-item.ts";

/** The words of a turn by which it is found: what the user said, and, lighter, what an assistant said to it. */
const TURN_INDEX = ["messages[0].content", "messages[1:].content"];
/** Where the other side is a person, all of it counts alike. */
const PEOPLE_INDEX = ["messages[*].content"];

/** The methods of a session repository that are about turns. */
export type TurnMethods = Pick<
  SessionRepository,
  | "readTurn"
  | "readTurns"
  | "readStoredTurn"
  | "readStoredTurns"
  | "lastStoredTurn"
  | "writeTurn"
  | "searchTurns"
>;

/** How turns are kept. */
export interface TurnOptions {
  /** Whether people, and no assistant, answer on a key. */
  readonly isWithPeople?: (sessionKey: string) => boolean;
}

/** Makes them. */
export function turnMethods(store: BaseStore, { isWithPeople }: TurnOptions = {}): TurnMethods {
  return {
    readTurn: async (ref, turn) => {
      const stored = await readStoredTurn(store, ref, turn);
      return stored === undefined || isRedacted(stored) ? undefined : stored;
    },
    readStoredTurn: (ref, turn) => readStoredTurn(store, ref, turn),
    readTurns: async (ref, range) => wholeTurns(await readStoredTurns(store, ref, range)),
    readStoredTurns: (ref, range) => readStoredTurns(store, ref, range),
    lastStoredTurn: (ref) => lastStoredTurn(store, ref),
    writeTurn: (ref, record) =>
      writeTurn(store, ref, {
        record,
        index: isWithPeople?.(ref.sessionKey) === true ? PEOPLE_INDEX : TURN_INDEX,
      }),
    searchTurns: (ref, query, limit) => searchTurns(store, ref, { query, limit }),
  };
}

/** Found in steps that double, as long as there is no gap. What stands behind one is found by reading all. */
async function lastStoredTurn(store: BaseStore, ref: TranscriptRef): Promise<number> {
  const namespace = historyNamespace(ref);
  const last = await lastWithoutGap((turn) => isStored(store, namespace, turn));
  if ((await store.search(namespace, { limit: 1, offset: last })).length === 0) return last;
  const items = await searchAll(store, namespace);
  return items.reduce((highest, item) => Math.max(highest, Number.parseInt(item.key, 10) || 0), last);
}

async function lastWithoutGap(exists: (turn: number) => Promise<boolean>): Promise<number> {
  let low = 0;
  let high = 1;
  while (await exists(high)) {
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (await exists(middle)) low = middle;
    else high = middle;
  }
  return low;
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

async function readStoredTurn(
  store: BaseStore,
  ref: TranscriptRef,
  turn: number,
): Promise<StoredTurn | undefined> {
  const item = await getItem(store, historyNamespace(ref), turnItemKey(turn));
  return item === undefined ? undefined : parseTurn(item);
}

/** The turn or mark of an item. @throws {LilyError} `record_invalid` */
function parseTurn(item: Item): StoredTurn {
  const value = fromTurnItem(item.value, item);
  // Not a union: what is wrong with a turn is told without what is wrong with it as a mark.
  const schema: z.ZodType<StoredTurn> = "redacted" in item.value ? redactedTurnSchema : turnRecordSchema;
  return parseItem(value, schema, `${item.namespace.join("/")}/${item.key}`);
}

async function readStoredTurns(
  store: BaseStore,
  ref: TranscriptRef,
  range: { readonly from: number; readonly to: number },
): Promise<StoredTurn[]> {
  const namespace = historyNamespace(ref);
  const first = Math.max(1, range.from);
  const keys = Array.from({ length: Math.max(0, range.to - first + 1) }, (_, index) =>
    turnItemKey(first + index),
  );
  // Not `store.batch`: the store that nodes are given throws on it, and batches gets of one tick by itself.
  const items = await Promise.all(keys.map((key) => getItem(store, namespace, key)));
  return items.filter((item) => item !== undefined).map(parseTurn);
}

async function writeTurn(
  store: BaseStore,
  ref: TranscriptRef,
  { record, index }: { readonly record: TurnRecord; readonly index: string[] },
): Promise<void> {
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
      value: { ...record },
      index,
    },
    // What is committed is not in flight any more.
    { namespace: inFlightNamespace(ref), key: IN_FLIGHT_KEY, value: null },
  ];
  await putAll(store, puts);
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
    return items.flatMap((item) => found(item, item.score ?? 0));
  // This store does not rank by words (LangGraph's development store, InMemoryStore), so rank here.
  const all = await searchAll(store, prefix);
  return rankTexts(all, search.query, (item) => textOf(item))
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
