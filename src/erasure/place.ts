/** A place where something of a person is kept: how an erasure finds it there, and how it takes it away. */
import type { BaseCheckpointSaver, BaseStore } from "@langchain/langgraph-checkpoint";
import type { Clock } from "#src/kernel/clock.ts";
import type { Ids } from "#src/kernel/ids.ts";
import { stringsIn } from "#src/kernel/json.ts";
import { decodeLabel, encodeLabel } from "#src/kernel/ids.ts";
import type { StorageBackend } from "#src/storage/backend.ts";
import { itemsUnder, putAll } from "#src/storage/session-items.ts";
import type { Says } from "./says.ts";

/** Lines that a person has typed at this machine, in files and in the terminal that is open. */
export interface TypedLines {
  /** Whose terminal it is. */
  readonly owner: string;
  /** How many lines say it. Changes nothing. */
  count(says: Says): number;
  /** Removes the lines that say it; how many. */
  erase(says: Says): number;
}

/** What an erasure works with. */
export interface ErasureDeps {
  readonly storage: Pick<StorageBackend, "erasure" | "fencedStore" | "locks" | "store"> & {
    readonly checkpointer: Pick<BaseCheckpointSaver, "deleteThread" | "list">;
  };
  readonly clock: Clock;
  readonly ids: Ids;
  /** Threads of an owner, or of one key of theirs, also of no chain; absent where nobody else makes any. */
  readonly threadsOf?: (owner: string, sessionKey: string | undefined) => Promise<readonly string[]>;
  /** The store is that of a LangGraph server. */
  readonly servesLangGraph?: boolean;
  /** Absent where nobody types. */
  readonly typed?: TypedLines;
  /** How many API keys open the data of an owner; absent where there are none. */
  readonly apiKeys?: (owner: string) => number;
  /** Longest wait for another turn on each key, in milliseconds. */
  readonly keyWaitMs?: number;
}

/** Something that was found: an item of the Store, or what a place knows by its `key`. */
export interface Found {
  /** The conversation whose lock is held while it is erased; absent for what belongs to none. */
  readonly sessionKey?: string | undefined;
  readonly namespace: readonly string[];
  readonly key: string;
  readonly value?: unknown;
  /** How many things it counts as; 1 by default. */
  readonly count?: number;
  /** Sessions whose checkpoints may hold it. */
  readonly sessionIds?: readonly string[];
}

/** What was found, by the name of its place. */
export type FoundIn = ReadonlyMap<string, readonly Found[]>;

/** What is looked for. */
export interface Search {
  readonly deps: ErasureDeps;
  readonly owner: string;
  /** One conversation alone, with everything in it. */
  readonly sessionKey?: string | undefined;
  /** What says it; of everything that is there where all is to go. */
  readonly says: Says;
  /** All of a person or key goes, and nothing is left to be verified; else what says a text goes, and marks stay. */
  readonly isWhole: boolean;
  /** What the places before have found. */
  readonly found: FoundIn;
}

export interface Erasure extends Search {
  /** ISO instant of the erasure. */
  readonly at: string;
  /** The Store under the lease of a key, or under any for what belongs to none: whoever woke up late must not erase. */
  readonly storeFor: (sessionKey?: string) => BaseStore;
}

/** A row of the table of places. What it does not say is as for items of the Store that go as they are found. */
export interface Place {
  /** As receipts and previews call it. */
  readonly name: string;
  /** First label of its namespaces in the Store, with the owner's behind it; absent where it is not there. */
  readonly root?: string;
  /** What persons and models said: one of it and many of it in words. What says a text in part here stays and is told of. */
  readonly said?: readonly [one: string, many: string];
  /** Why this erasure leaves it alone; then it is not searched. */
  leaves?(search: Search): string | undefined;
  /** What is found here stays while a turn runs on any conversation that says it, and why. */
  readonly waitsForAll?: string;
  /** What a receipt adds to the count of what was erased of a text. */
  readonly note?: string;
  /** What of an item under the root is found; by default all of one that says it. */
  finds?(item: Found, search: Search): Found | undefined;
  /** Finds what is not told item by item. Changes nothing. */
  find?(search: Search): Promise<readonly Found[]>;
  /** Takes a text out of what was found, twice as once. @returns how much is gone */
  eraseText?(found: readonly Found[], erasure: Erasure): Promise<number>;
  /** Erases what is not in the Store, twice as once. @returns how much is gone, or in words why some of it is not */
  erase?(found: readonly Found[], erasure: Erasure): Promise<number | string>;
}

/** Finds what is in a place. Changes nothing. */
export async function findIn(place: Place, search: Search): Promise<readonly Found[]> {
  const { leaves, root = "", finds = whatSays } = place;
  if (leaves?.(search) !== undefined) return [];
  if (place.find !== undefined) return place.find(search);
  const found: Found[] = [];
  for await (const item of itemsOf(search, root)) {
    const one = finds(item, search);
    if (one !== undefined) found.push(one);
  }
  return found;
}

/** Erases what was found in a place. @returns how much is gone, or in words why some of it is not */
export async function eraseIn(
  place: Place,
  found: readonly Found[],
  erasure: Erasure,
): Promise<number | string> {
  if (place.erase !== undefined) return place.erase(found, erasure);
  if (place.eraseText !== undefined && !erasure.isWhole) return place.eraseText(found, erasure);
  return remove(found, erasure);
}

/** How many things were found. */
export function countOf(found: readonly Found[] = []): number {
  return found.reduce((sum, { count = 1 }) => sum + count, 0);
}

/** Sessions of what was found. */
export function sessionsIn(found: FoundIn): ReadonlySet<string> {
  return new Set([...found.values()].flat().flatMap(({ sessionIds = [] }) => sessionIds));
}

/** Items of the owner, or of the one key, under a root. */
export async function* itemsOf({ deps, owner, sessionKey }: Search, root: string): AsyncGenerator<Found> {
  const key = sessionKey === undefined ? [] : [encodeLabel(sessionKey)];
  for await (const item of itemsUnder(deps.storage.store, [root, encodeLabel(owner), ...key])) {
    const [, , ofKey, session] = item.namespace;
    yield {
      sessionKey: ofKey === undefined ? undefined : decodeLabel(ofKey),
      sessionIds: session === undefined ? [] : [decodeLabel(session)],
      namespace: item.namespace,
      key: item.key,
      value: item.value,
    };
  }
}

/** Items of exactly this namespace, of which each belongs to no conversation. */
export async function itemsIn(store: BaseStore, namespace: readonly string[]): Promise<Found[]> {
  const found: Found[] = [];
  for await (const { key, value, namespace: own } of itemsUnder(store, [...namespace]))
    if (own.length === namespace.length) found.push({ namespace: own, key, value });
  return found;
}

/** The item, if any of its strings say it, or all of them together. */
export function whatSays(item: Found, { says }: Pick<Search, "says">): Found | undefined {
  return says([item.key, ...stringsIn(item.value)].join("\n")) ? item : undefined;
}

const BATCH = 200;

/** Deletes items, those of each conversation under its lease. */
export async function remove(found: readonly Found[], { storeFor }: Erasure): Promise<number> {
  for (const sessionKey of new Set(found.map((item) => item.sessionKey))) {
    const puts = found
      .filter((item) => item.sessionKey === sessionKey)
      .map(({ namespace, key }) => ({ namespace: [...namespace], key, value: null }));
    for (let from = 0; from < puts.length; from += BATCH)
      await putAll(storeFor(sessionKey), puts.slice(from, from + BATCH));
  }
  return found.length;
}
