/** The examination of whatever stands behind the store port, on any backend. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { errorMessage, isLilyError } from "#src/kernel/errors.ts";
import { wrong, type Check } from "./check.ts";
import { checkBlobs } from "./checks/blobs.ts";
import { checkConversations } from "./checks/conversations.ts";

/** Examines a store. What cannot be read is a row, not an exception. */
export async function examineStore(
  store: BaseStore,
  options: { readonly otherTexts?: () => Iterable<string> } = {},
): Promise<Check[]> {
  const conversations = await orRow("conversations", () => checkConversations(store));
  const blobs = await orRow("blobs", async () => [await checkBlobs(store, options.otherTexts)]);
  return [...conversations, ...blobs];
}

/** The rows of `look`, or one that says why there are none. */
export async function orRow(check: string, look: () => Check[] | Promise<Check[]>): Promise<Check[]> {
  try {
    return await look();
  } catch (error) {
    const code = isLilyError(error) ? error.code : "doctor_failed";
    const next = isLilyError(error) && error.next !== undefined ? { next: error.next } : {};
    return [wrong(check, `it could not be looked at: ${errorMessage(error)}`, { code, ...next })];
  }
}
