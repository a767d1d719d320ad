/**
 * Every place where something of a person is kept, in the order in which it is looked for: what is found by way of another place
 * comes behind it. It is erased in the opposite order, so that a crash at any moment leaves what the rest is found by when the
 * same is asked for again. A new place is one more entry here.
 */
import {
  blobs,
  evidence,
  inputHistory,
  memory,
  memoryOfKey,
  otherData,
  tombstones,
} from "./places/belongings.ts";
import { checkpoints } from "./places/checkpoints.ts";
import {
  deliveries,
  failedTurns,
  sessionIndex,
  stopRequests,
  summaries,
  titles,
  transcripts,
  turnsInFlight,
} from "./places/conversations.ts";
import type { Place } from "./place.ts";

const KNOWN: readonly Place[] = [
  sessionIndex,
  // By whose ids and words one asks again: after all that says the same.
  tombstones,
  memory,
  memoryOfKey,
  titles,
  transcripts,
  failedTurns,
  turnsInFlight,
  summaries,
  deliveries,
  stopRequests,
  evidence,
  blobs,
  checkpoints,
  inputHistory,
];

/** The places. */
export const PLACES: readonly Place[] = [
  otherData(new Set(KNOWN.flatMap(({ root }) => (root === undefined ? [] : [root])))),
  ...KNOWN,
];
