/** What belongs to a person and not to one conversation: evidence, blobs, memory, what was typed, and whatever else. */
import { decodeLabel, encodeLabel } from "#src/kernel/ids.ts";
import { errorMessage } from "#src/kernel/errors.ts";
import { forgetSaying, findSaying } from "#memory/facts/forget.ts";
import type { FactDeps } from "#memory/facts/rows.ts";
import { isMemoryOf, memoryOwners, ownMemory } from "#memory/namespaces.ts";
import { itemsUnder, namespacesUnder } from "#src/storage/session-items.ts";
import { FROZEN_TYPE } from "#src/sessions/repository.ts";
import { blobNamespace } from "#src/storage/session-namespaces.ts";
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { z } from "zod";
import type { ErasureDeps, Found, Place, Search } from "../place.ts";
import { itemsIn, itemsOf, remove, whatSays } from "./store-place.ts";

/** Why the erasure of one conversation leaves it alone. */
function ofPerson({ sessionKey }: Search): string | undefined {
  if (sessionKey === undefined) return undefined;
  return "it is of the person, not of one conversation: lily erase --owner takes it";
}

/** Documents and their passages. Of one conversation, the documents that were made of it. */
export const evidence: Place = {
  name: "evidence",
  root: "evidence",
  async find(search) {
    const { sessionKey, deps, found: before } = search;
    const sessions = new Set(
      sessionKey === undefined
        ? []
        : [...before.values()].flat().flatMap(({ sessionIds = [] }) => sessionIds),
    );
    const found = new Map<string, Found>();
    const add = (item: Found): void =>
      void found.set([...item.namespace, item.key].join("/"), ofNobody(item));
    for await (const item of evidenceOf(search)) {
      const isFound =
        sessionKey === undefined
          ? whatSays(item, search)
          : sessions.has(sessionOf(item)) || isMemoryOf(ownMemory(search.owner, sessionKey), item.namespace);
      if (isFound === undefined || isFound === false) continue;
      add(item);
      // A knowledge base whose name says it goes with all of its documents.
      if (item.namespace[3] === "kbs")
        for await (const one of itemsUnder(deps.storage.store, [
          ...item.namespace.slice(0, 2),
          encodeLabel(item.key),
        ]))
          add(one);
      // A document whose own name or path says it goes with all of its passages.
      if (item.namespace[3] !== "sources") continue;
      for (const piece of await itemsIn(deps.storage.store, piecesBeside(item))) add(piece);
    }
    return [...found.values()];
  },
  erase: remove,
};

async function* evidenceOf({ deps, owner }: Search): AsyncGenerator<Found> {
  for await (const item of itemsUnder(deps.storage.store, ["evidence"]))
    if (isMemoryOf(owner, item.namespace)) yield item;
}

/** The namespace of the passages of a document. */
function piecesBeside({ namespace, key }: Found): string[] {
  return [...namespace.slice(0, 3), "pieces", key];
}

function ofNobody({ namespace, key, value }: Found): Found {
  return { namespace, key, value };
}

const conversationSchema = z.object({ path: z.string().startsWith("session:") });

function sessionOf({ value }: Found): string {
  const source = conversationSchema.safeParse(value);
  return source.success ? source.data.path.replace("session:", "") : "";
}

const HASH = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/gu;

/** Files and long results: those that say it, and those that erased turns name and no other does. */
export const blobs: Place = {
  name: "blobs",
  root: "blobs",
  async find(search) {
    const { deps, owner, sessionKey, says, isWhole } = search;
    const all = await itemsIn(deps.storage.store, blobNamespace(owner));
    if (isWhole && sessionKey === undefined) return all;
    const named = await namedOnlyByErased(search);
    // A persona or skill is named by sessions and not by turns: it goes where it says the text, or with all there is.
    const ofTurns = (value: unknown): boolean => blobSchema.safeParse(value).data?.mimeType !== FROZEN_TYPE;
    return all.filter(
      ({ key, value }) =>
        (named.has(key) && ofTurns(value)) || (!isWhole && textsOf(key, value).some((text) => says(text))),
    );
  },
  erase: remove,
};

/** Hashes that stand in turns that go, and in no other turn. */
async function namedOnlyByErased(search: Search): Promise<ReadonlySet<string>> {
  const doomed = search.found.get("transcripts") ?? [];
  const hashesIn = (items: readonly Found[]): string[] =>
    items.flatMap(({ value }) => JSON.stringify(value).match(HASH) ?? []);
  const named = new Set(hashesIn(doomed));
  if (named.size === 0) return named;
  const places = new Set(doomed.map(placeOf));
  for await (const item of itemsOf({ ...search, sessionKey: undefined }, "history"))
    if (!places.has(placeOf(item))) for (const hash of hashesIn([item])) named.delete(hash);
  return named;
}

function placeOf({ namespace, key }: Found): string {
  return [...namespace, key].join("/");
}

const blobSchema = z.object({ mimeType: z.string(), base64: z.string() });

/** What bytes say when they are text, in the encodings that files come in. What is no blob is read as it stands. */
function textsOf(key: string, value: unknown): string[] {
  const blob = blobSchema.safeParse(value);
  if (!blob.success) return [JSON.stringify(value), decodeLabel(key)];
  const bytes = Buffer.from(blob.data.base64, "base64");
  const swapped = Buffer.from(bytes.subarray(0, bytes.length & ~1)).swap16();
  return [bytes.toString("utf8"), bytes.toString("utf16le"), swapped.toString("utf16le")];
}

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
  async erase(found, erasure) {
    const { deps, owner, says, storeFor, isWhole } = erasure;
    if (isWhole) return remove(found, erasure);
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
  async find({ deps, owner, sessionKey = "" }) {
    return itemsOfMemory(deps.storage.store, ownMemory(owner, sessionKey), () => true);
  },
  erase: remove,
};

/** Marks of what was forgotten, which tell nothing. That of a text is put before anything is erased. */
export const tombstones: Place = {
  name: "tombstone",
  root: "memory",
  leaves: (search) =>
    search.isWhole
      ? ofPerson(search)
      : "a mark that tells nothing keeps imports and tools from bringing it back",
  find: ({ deps, owner }) => itemsOfMemory(deps.storage.store, owner, (kind) => kind === "tombstones"),
  erase: remove,
};

async function itemsOfMemory(
  store: BaseStore,
  owner: string,
  isKind: (kind: string | undefined) => boolean,
): Promise<Found[]> {
  const all = await namespacesUnder(store, ["memory"]);
  const own = all.filter((namespace) => isMemoryOf(owner, namespace) && isKind(namespace[1]));
  return (await Promise.all(own.map((namespace) => itemsIn(store, namespace)))).flat();
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

/** What another version has put below a root that this one does not know: all of a person's, none of a text. */
export function otherData(known: ReadonlySet<string>): Place {
  return {
    name: "other data",
    async find({ deps, owner, sessionKey, isWhole }) {
      if (!isWhole) return [];
      const { store } = deps.storage;
      const own = (await namespacesUnder(store)).filter(
        ([root = "", label, key]) =>
          !known.has(root) &&
          label === encodeLabel(owner) &&
          (sessionKey === undefined || key === encodeLabel(sessionKey)),
      );
      return (await Promise.all(own.map((namespace) => itemsIn(store, namespace)))).flat();
    },
    erase: remove,
  };
}

/** Lines that were typed at this machine. A file that cannot be written is told of: the rest is erased all the same. */
export const inputHistory: Place = {
  name: "input history",
  leaves: (search) =>
    search.deps.typed?.owner === search.owner
      ? ofPerson(search)
      : "what was typed in a terminal is in its own history; erase it there",
  async find({ deps: { typed }, says }) {
    const count = typed?.count(says) ?? 0;
    return count === 0 ? [] : [{ namespace: [], key: "lines", count }];
  },
  async erase(_found, { deps: { typed }, says }) {
    try {
      return typed?.erase(says) ?? 0;
    } catch (error) {
      return errorMessage(error);
    }
  },
};
