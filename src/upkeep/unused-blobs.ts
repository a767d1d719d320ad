/** Finds what is stored once beside conversations and named by nothing any more. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { itemsUnder } from "./read-items.ts";

/** A blob that nothing names. */
interface UnusedBlob {
  readonly namespace: readonly string[];
  readonly key: string;
  readonly bytes: number;
  readonly createdAt: Date;
}

/** Where the blobs of all owners are. */
export const BLOBS = "blobs";

/** Whatever a blob may be named by: its key stands somewhere in the item that refers to it. */
const NAMES = /[\w-]{8,}/gu;

/** Blobs whose key is in no other item, of whatever owner, and in none of `otherTexts`. Reads only. */
export async function findUnusedBlobs(
  store: BaseStore,
  otherTexts: () => Iterable<string> = () => [],
): Promise<{ readonly unused: readonly UnusedBlob[]; readonly total: number }> {
  const unused = new Map<string, UnusedBlob[]>();
  let total = 0;
  for await (const { namespace, key, value, createdAt } of itemsUnder(store, [BLOBS])) {
    total += 1;
    const blob = { namespace, key, bytes: JSON.stringify(value).length, createdAt };
    unused.set(key, [...(unused.get(key) ?? []), blob]);
  }
  if (unused.size > 0) {
    for await (const { namespace, value } of itemsUnder(store, [])) {
      if (namespace[0] !== BLOBS) forget(unused, JSON.stringify(value));
    }
    for (const text of otherTexts()) forget(unused, text);
  }
  return { unused: [...unused.values()].flat(), total };
}

function forget(unused: Map<string, unknown>, text: string): void {
  for (const [name] of text.matchAll(NAMES)) unused.delete(name);
}
