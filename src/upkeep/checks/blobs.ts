/** Checks that what is stored once beside conversations is still referred to by one. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { counted, fine, warning, type Check } from "../check.ts";
import { itemsUnder } from "../read-items.ts";
import { sizeText } from "../size-text.ts";

const BLOBS = "blobs";

/** Whatever a blob may be named by: its key stands somewhere in the item that refers to it. */
const NAMES = /[\w-]{8,}/gu;

/** Looks for blobs whose key is in no other item, and in none of `otherTexts`. Reads only. */
export async function checkBlobs(
  store: BaseStore,
  otherTexts: () => Iterable<string> = () => [],
): Promise<Check> {
  const unused = new Map<string, number>();
  let total = 0;
  for await (const { key, value } of itemsUnder(store, [BLOBS])) {
    total += 1;
    unused.set(key, (unused.get(key) ?? 0) + JSON.stringify(value).length);
  }
  if (unused.size > 0) {
    for await (const { namespace, value } of itemsUnder(store, [])) {
      if (namespace[0] !== BLOBS) forget(unused, JSON.stringify(value));
    }
    for (const text of otherTexts()) forget(unused, text);
  }
  if (unused.size === 0) return fine(BLOBS, `${counted(total, "blob")}, each referred to`);
  const bytes = [...unused.values()].reduce((sum, length) => sum + length, 0);
  return warning(
    BLOBS,
    `${unused.size} of ${counted(total, "blob")} (${sizeText(bytes)}) are referred to by nothing`,
    "They take space and do no harm.",
  );
}

function forget(unused: Map<string, number>, text: string): void {
  for (const [name] of text.matchAll(NAMES)) unused.delete(name);
}
