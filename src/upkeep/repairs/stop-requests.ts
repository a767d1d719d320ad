/** Removes requests to stop a turn that nobody looked at. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { counted } from "../check.ts";
import { findOldStopRequests } from "../stop-request-rows.ts";
import { done, type Outcome } from "./outcome.ts";

/** Removes them, one write each. */
export async function removeStopRequests(store: BaseStore, now: number): Promise<Outcome> {
  const old = await findOldStopRequests(store, now);
  for (const { namespace, key } of old) await store.delete([...namespace], key);
  return old.length === 0 ? undefined : done(`removed ${counted(old.length, "request")} to stop a turn`);
}
