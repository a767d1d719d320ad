/** Checks for requests to stop a turn that nobody looked at. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { counted, fine, warning, type Check } from "../check.ts";
import { findOldStopRequests } from "../stop-request-rows.ts";

/** The row of the requests to stop. */
export async function checkStopRequests(store: BaseStore, now: number): Promise<Check> {
  const { length } = await findOldStopRequests(store, now);
  if (length === 0) return fine("stop requests", "none is left over");
  return warning(
    "stop requests",
    `${counted(length, "request")} to stop a turn that is long over`,
    "They stop nothing; the next turn of their key or lily doctor --repair removes them.",
  );
}
