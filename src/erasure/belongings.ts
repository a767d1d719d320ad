/** What belongs to a person and not to one conversation: what is remembered, documents, and files. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { z } from "zod";
import { findSaying, forgetSaying } from "#memory/facts/forget.ts";
import type { FactDeps } from "#memory/facts/rows.ts";
import { isMemoryOf, memoryOwners, ownMemory } from "#memory/namespaces.ts";
import { decodeLabel, encodeLabel } from "#src/kernel/ids.ts";
import { FROZEN_TYPE } from "#src/sessions/repository.ts";
import { itemsUnder, namespacesUnder, blobNamespace } from "#src/storage/session-items.ts";
import {
  itemsIn,
  itemsOf,
  sessionsIn,
  whatSays,
  type ErasureDeps,
  type Found,
  type Place,
  type Search,
} from "./place.ts";

/** Why the erasure of one conversation leaves it alone. */
export const ofPerson = ({ sessionKey }: Search): string | undefined =>
  sessionKey === undefined
    ? undefined
    : "it is of the person, not of one conversation: lily erase --owner takes it";

/** Marks of what was forgotten, which tell nothing. That of a text is put before anything is erased. */
export const tombstones: Place = {
  name: "tombstone",
  root: "memory",
  leaves: (search) =>
    search.isWhole
      ? ofPerson(search)
      : "a mark that tells nothing keeps imports and tools from bringing it back",
  find: ({ deps, owner }) => itemsOfMemory(deps.storage.store, owner, (kind) => kind === "tombstones"),
};

/** Facts in every domain and task, and those that wait for a review. */
export const memory: Place = {
  name: "memory",
  root: "memory",
  said: ["fact", "facts"],
  leaves: ofPerson,
  waitsForAll: "it stays until then, since its id is how you ask again",
  async find({ deps, owner, says, isWhole }) {
    const { store } = deps.storage;
    if (isWhole) return itemsOfMemory(store, owner, (kind) => kind !== "tombstones");
    const found: Found[] = [];
    for (const one of await ownersIn(store, owner)) {
      const { records, unreadable } = await findSaying(factDepsOn(deps, store), { owner: one }, says);
      found.push(...records.map((value) => ({ namespace: ["memory"], key: value.id, value })), ...unreadable);
    }
    return found;
  },
  async eraseText(_found, { deps, owner, says, storeFor }) {
    let forgotten = 0;
    for (const one of await ownersIn(deps.storage.store, owner))
      forgotten += (await forgetSaying(factDepsOn(deps, storeFor()), { owner: one }, says)).forgotten;
    return forgotten;
  },
};

/** What a conversation remembers for itself alone, marks included: it goes with it. Of a person it is part of memory. */
export const memoryOfKey: Place = {
  name: "memory of its own",
  root: "memory",
  leaves: ({ sessionKey }) => (sessionKey === undefined ? "it is counted with memory" : undefined),
  find: async ({ deps, owner, sessionKey = "" }) =>
    itemsOfMemory(deps.storage.store, ownMemory(owner, sessionKey), () => true),
};

async function itemsOfMemory(
  store: BaseStore,
  owner: string,
  isKind: (kind: string | undefined) => boolean,
): Promise<Found[]> {
  const all = await namespacesUnder(store, ["memory"]);
  return itemsInAll(
    store,
    all.filter((namespace) => isMemoryOf(owner, namespace) && isKind(namespace[1])),
  );
}

/** Items of exactly these namespaces. */
export async function itemsInAll(store: BaseStore, namespaces: readonly string[][]): Promise<Found[]> {
  return (await Promise.all(namespaces.map((namespace) => itemsIn(store, namespace)))).flat();
}

/** As whom the facts of a person are reached: themselves, and each key that keeps its own. */
async function ownersIn(store: BaseStore, owner: string): Promise<string[]> {
  const namespaces: string[][] = [];
  // A node's store lists no namespaces.
  for await (const { namespace } of itemsUnder(store, ["memory"])) namespaces.push(namespace);
  return memoryOwners(owner, namespaces);
}

/** What the fact store works with, on `store`. */
export function factDepsOn({ clock, ids }: ErasureDeps, store: BaseStore): FactDeps {
  // Only what is to be remembered is searched for secrets.
  return { store, clock, ids, scan: async () => [] };
}

/** Documents and their passages. Of one conversation, the documents that were made of it. */
export const evidence: Place = {
  name: "evidence",
  root: "evidence",
  async find(search) {
    const { deps, owner, sessionKey } = search;
    const { store } = deps.storage;
    const sessions = sessionsIn(search.found);
    const isOfKey = (item: Found, key: string): boolean =>
      sessions.has(sessionOf(item)) || isMemoryOf(ownMemory(owner, key), item.namespace);
    const found = new Map<string, Found>();
    for await (const item of itemsUnder(store, ["evidence"])) {
      if (!isMemoryOf(owner, item.namespace)) continue;
      if (sessionKey === undefined ? whatSays(item, search) === undefined : !isOfKey(item, sessionKey))
        continue;
      const { namespace, key } = item;
      found.set(placeOf(item), { namespace, key });
      // A knowledge base whose name says it goes with all of its documents, a document with all of its passages.
      const below =
        namespace[3] === "kbs"
          ? [...namespace.slice(0, 2), encodeLabel(key)]
          : [...namespace.slice(0, 3), "pieces", key];
      if (namespace[3] === "kbs" || namespace[3] === "sources")
        for await (const one of itemsUnder(store, below))
          found.set(placeOf(one), { namespace: one.namespace, key: one.key });
    }
    return [...found.values()];
  },
};

const conversationSchema = z.object({ path: z.string().startsWith("session:") });

/** The session of which a document was made; `""` for any other. */
function sessionOf({ value }: Found): string {
  return conversationSchema.safeParse(value).data?.path.replace("session:", "") ?? "";
}

function placeOf({ namespace, key }: Found): string {
  return [...namespace, key].join("/");
}

const HASH = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/gu;
const blobSchema = z.object({ mimeType: z.string(), base64: z.string() });

/** Files and long results: those that say it, and those that erased turns name and no other does. */
export const blobs: Place = {
  name: "blobs",
  root: "blobs",
  async find(search) {
    const { deps, owner, sessionKey, says, isWhole } = search;
    const all = await itemsIn(deps.storage.store, blobNamespace(owner));
    if (isWhole && sessionKey === undefined) return all;
    const named = await namedOnlyByErased(search);
    return all.filter(({ key, value }) => {
      const blob = blobSchema.safeParse(value).data;
      // A persona or skill is named by sessions and not by turns: it goes where it says the text, or with all there is.
      if (named.has(key) && blob?.mimeType !== FROZEN_TYPE) return true;
      const texts = blob === undefined ? [JSON.stringify(value), decodeLabel(key)] : textsOf(blob.base64);
      return !isWhole && texts.some((text) => says(text));
    });
  },
};

/** Hashes that stand in turns that go, and in no other turn. */
async function namedOnlyByErased(search: Search): Promise<ReadonlySet<string>> {
  const doomed = search.found.get("transcripts") ?? [];
  const hashesIn = ({ value }: Found): string[] => JSON.stringify(value).match(HASH) ?? [];
  const named = new Set(doomed.flatMap(hashesIn));
  if (named.size === 0) return named;
  const places = new Set(doomed.map(placeOf));
  for await (const item of itemsOf({ ...search, sessionKey: undefined }, "history"))
    if (!places.has(placeOf(item))) for (const hash of hashesIn(item)) named.delete(hash);
  return named;
}

/** What bytes say when they are text, in the encodings that files come in. */
function textsOf(base64: string): string[] {
  const bytes = Buffer.from(base64, "base64");
  const swapped = Buffer.from(bytes.subarray(0, bytes.length & ~1)).swap16();
  return [bytes.toString("utf8"), bytes.toString("utf16le"), swapped.toString("utf16le")];
}
