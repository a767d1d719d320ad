/** Finds requests to stop a turn that nobody looked at: the turn was over by then, and none came after it on its key. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { itemsUnder } from "./read-items.ts";

/** Where the requests of all owners and keys are. */
const STOP_REQUESTS = "stop-requests";

/** A turn looks several times a second, and none takes this long. */
const YOUNG_MS = 24 * 60 * 60 * 1000;

/** One that is left over. */
interface OldStopRequest {
  readonly namespace: readonly string[];
  readonly key: string;
}

/** Those that are older than a day at the instant `now`. Reads only. */
export async function findOldStopRequests(store: BaseStore, now: number): Promise<OldStopRequest[]> {
  const found: OldStopRequest[] = [];
  for await (const { namespace, key, updatedAt } of itemsUnder(store, [STOP_REQUESTS]))
    if (now - updatedAt.getTime() > YOUNG_MS) found.push({ namespace, key });
  return found;
}
