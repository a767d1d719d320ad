/** A place that is one root of the Store: the owner's label behind it, and mostly those of a session key and a session. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { decodeLabel, encodeLabel } from "#src/kernel/ids.ts";
import { stringsIn } from "#src/kernel/json.ts";
import { itemsUnder, putAll } from "#src/storage/session-items.ts";
import type { Erasure, Found, Place, Search } from "../place.ts";

/** What is particular about one. */
export type StorePlace = Pick<Place, "name" | "leaves" | "note" | "said"> & {
  readonly root: string;
  /** What of an item is found; by default all of one that says it in any of its strings. */
  readonly finds?: (item: Found, search: Search) => Found | undefined;
  /** Takes a text out of what was found; by default all of it goes. */
  readonly eraseText?: Place["erase"];
};

export function storePlace({ finds = whatSays, eraseText, ...place }: StorePlace): Place {
  return {
    ...place,
    async find(search) {
      const found: Found[] = [];
      for await (const item of itemsOf(search, place.root)) {
        const one = finds(item, search);
        if (one !== undefined) found.push(one);
      }
      return found;
    },
    erase: (found, erasure) =>
      erasure.isWhole || eraseText === undefined ? remove(found, erasure) : eraseText(found, erasure),
  };
}

/** Items of the owner, or of the one key, under a root. */
export async function* itemsOf({ deps, owner, sessionKey }: Search, root: string): AsyncGenerator<Found> {
  const key = sessionKey === undefined ? [] : [encodeLabel(sessionKey)];
  for await (const item of itemsUnder(deps.storage.store, [root, encodeLabel(owner), ...key])) {
    const [, , ofKey, session] = item.namespace;
    yield {
      ...(ofKey === undefined ? {} : { sessionKey: decodeLabel(ofKey) }),
      ...(session === undefined ? {} : { sessionIds: [decodeLabel(session)] }),
      namespace: item.namespace,
      key: item.key,
      value: item.value,
    };
  }
}

/** The item, if any of its strings say it, or all of them together. */
export function whatSays(item: Found, { says }: Search): Found | undefined {
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

/** Items of exactly this namespace, of which each belongs to no conversation. */
export async function itemsIn(store: BaseStore, namespace: readonly string[]): Promise<Found[]> {
  const found: Found[] = [];
  for await (const { key, value, namespace: own } of itemsUnder(store, [...namespace]))
    if (own.length === namespace.length) found.push({ namespace: own, key, value });
  return found;
}
