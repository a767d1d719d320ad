/** Checks that what is stored once beside conversations is still referred to by one. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { counted, fine, warning, type Check } from "../check.ts";
import { sizeText } from "../size-text.ts";
import { BLOBS, findUnusedBlobs } from "../unused-blobs.ts";

/** The row of the blobs. Reads only. */
export async function checkBlobs(
  store: BaseStore,
  otherTexts: () => Iterable<string> = () => [],
): Promise<Check> {
  const { unused, total } = await findUnusedBlobs(store, otherTexts);
  if (unused.length === 0) return fine(BLOBS, `${counted(total, "blob")}, each referred to`);
  const size = unused.reduce((sum, { bytes }) => sum + bytes, 0);
  return warning(
    BLOBS,
    `${unused.length} of ${counted(total, "blob")} (${sizeText(size)}) are referred to by nothing`,
    "They take space and do no harm; lily doctor --repair removes those that are older than a day.",
  );
}
