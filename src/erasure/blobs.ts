/** Blobs that an erasure takes along: those that say it, and those that only erased turns name. */
import { encodeLabel, decodeLabel } from "#src/kernel/namespace-label.ts";
import { itemsUnder } from "#src/storage/session-items.ts";
import { blobNamespace, transcriptsOf } from "#src/storage/session-namespaces.ts";
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { z } from "zod";
import type { Says } from "./says.ts";

const blobSchema = z.object({ mimeType: z.string(), base64: z.string() });
const HASH = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/gu;

/** What goes. */
export interface BlobSearch {
  readonly owner: string;
  readonly says: Says;
  /** Turns that are erased. */
  readonly turns: readonly { readonly sessionId: string; readonly turn: number }[];
}

/** Hashes of the blobs that go. */
export async function findBlobs(store: BaseStore, { owner, says, turns }: BlobSearch): Promise<string[]> {
  const saying = new Set<string>();
  const others = new Set<string>();
  for await (const { key, value } of itemsUnder(store, blobNamespace(owner))) {
    if (textsOf(key, value).some(says)) saying.add(key);
    else others.add(key);
  }
  const orphaned = others.size === 0 ? [] : await onlyNamedBy(store, { owner, turns, among: others });
  return [...saying, ...orphaned];
}

/** Removes blobs. */
export async function eraseBlobs(store: BaseStore, owner: string, hashes: readonly string[]): Promise<void> {
  for (const hash of hashes) await store.delete(blobNamespace(owner), hash);
}

/** Those that doomed turns name and no other turn does. */
async function onlyNamedBy(
  store: BaseStore,
  search: {
    readonly owner: string;
    readonly turns: BlobSearch["turns"];
    readonly among: ReadonlySet<string>;
  },
): Promise<string[]> {
  const { owner, turns, among } = search;
  const doomed = new Set(turns.map(({ sessionId, turn }) => `${encodeLabel(sessionId)}/${turn}`));
  if (doomed.size === 0) return [];
  const named = new Set<string>();
  const kept = new Set<string>();
  for await (const { namespace, key, value } of itemsUnder(store, transcriptsOf(owner))) {
    const place = `${namespace.at(-1)}/${Number.parseInt(key, 10)}`;
    const into = doomed.has(place) ? named : kept;
    for (const [hash] of JSON.stringify(value).matchAll(HASH)) if (among.has(hash)) into.add(hash);
  }
  return [...named].filter((hash) => !kept.has(hash));
}

/** What bytes say when they are text, in the encodings that files come in. */
function textsOf(key: string, value: unknown): string[] {
  const blob = blobSchema.safeParse(value);
  // What is no blob is read as it stands.
  if (!blob.success) return [JSON.stringify(value), decodeLabel(key)];
  const bytes = Buffer.from(blob.data.base64, "base64");
  return [
    bytes.toString("utf8"),
    bytes.toString("utf16le"),
    Buffer.from(bytes)
      .subarray(0, bytes.length & ~1)
      .swap16()
      .toString("utf16le"),
  ];
}
