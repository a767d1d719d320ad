/** The Store namespaces in which sessions are kept; every id in them goes through `encodeLabel`. */
import { decodeLabel, encodeLabel } from "#src/kernel/ids.ts";
import type { KeyRef, TranscriptRef } from "#src/sessions/repository.ts";

const ofOwner =
  (root: string) =>
  (owner: string): string[] => [root, encodeLabel(owner)];

const ofKey =
  (root: string) =>
  ({ owner, sessionKey }: KeyRef): string[] => [root, encodeLabel(owner), encodeLabel(sessionKey)];

const ofSession =
  (root: string) =>
  (ref: TranscriptRef): string[] => [...ofKey(root)(ref), encodeLabel(ref.sessionId)];

/** Owner and key by session id. */
export const sessionIndexNamespace: string[] = ["session-index"];

/** Prefix of all chains of an owner. */
export const chainsOf = ofOwner("sessions");

/** The chain of a key, as the single item `chain`. */
export const chainNamespace = ofKey("sessions");

/** Prefix of all transcripts of an owner. */
export const transcriptsOf = ofOwner("history");

/** Prefix of all turns of a key. */
export const historyOf = ofKey("history");

/** Turns of one session, one item a turn. */
export const historyNamespace = ofSession("history");

/** Key of a turn's item: the number with leading zeros, so that keys sort as turns do. */
export const turnItemKey = (turn: number): string => String(turn).padStart(8, "0");

/** Handled deliveries of a key, one item a delivery id. */
export const deliveryNamespace = ofKey("deliveries");

/** The turn in flight of a key, as the single item {@link IN_FLIGHT_KEY}. */
export const inFlightNamespace = ofKey("in-flight");

/** Key of the item that holds a turn in flight. */
export const IN_FLIGHT_KEY = "turn";

/** Failed turns of one session, as one item. */
export const explanationNamespace = ofSession("explanations");

/** Summaries of a conversation as one of its sessions reads it, one item a range of turns. */
export const summaryNamespace = ofSession("summaries");

/** Bytes and long texts of an owner, one item a content hash. */
export const blobNamespace = ofOwner("blobs");

/** The transcript whose turns lie in a namespace, `undefined` for a namespace of something else. */
export function transcriptIn(namespace: readonly string[]): TranscriptRef | undefined {
  const [kind, owner, sessionKey, sessionId, ...more] = namespace;
  if (kind !== "history" || owner === undefined || sessionKey === undefined) return undefined;
  if (sessionId === undefined || more.length > 0) return undefined;
  return {
    owner: decodeLabel(owner),
    sessionKey: decodeLabel(sessionKey),
    sessionId: decodeLabel(sessionId),
  };
}
