/** The Store namespaces in which sessions are kept; every id in them goes through `encodeLabel`. */
import { decodeLabel, encodeLabel } from "#src/kernel/ids.ts";
import type { KeyRef, TranscriptRef } from "#src/sessions/repository.ts";

/** Chains of an owner, one namespace a key, with the single item `chain`. */
export const chainNamespace = (ref: KeyRef): string[] => [
  "sessions",
  encodeLabel(ref.owner),
  encodeLabel(ref.sessionKey),
];

/** Prefix of all chains of an owner. */
export const chainsOf = (owner: string): string[] => ["sessions", encodeLabel(owner)];

/** Owner and key by session id. */
export const sessionIndexNamespace: string[] = ["session-index"];

/** Turns of one session, one item a turn. */
export const historyNamespace = (ref: TranscriptRef): string[] => [
  ...historyOf(ref),
  encodeLabel(ref.sessionId),
];

/** Prefix of all transcripts of an owner. */
export const transcriptsOf = (owner: string): string[] => ["history", encodeLabel(owner)];

/** Prefix of all turns of a key. */
export const historyOf = (ref: KeyRef): string[] => [
  "history",
  encodeLabel(ref.owner),
  encodeLabel(ref.sessionKey),
];

/** Handled deliveries of a key, one item a delivery id. */
export const deliveryNamespace = (ref: KeyRef): string[] => [
  "deliveries",
  encodeLabel(ref.owner),
  encodeLabel(ref.sessionKey),
];

/** The turn in flight of a key, as the single item {@link IN_FLIGHT_KEY}. */
export const inFlightNamespace = (ref: KeyRef): string[] => [
  "in-flight",
  encodeLabel(ref.owner),
  encodeLabel(ref.sessionKey),
];

/** Key of the item that holds a turn in flight. */
export const IN_FLIGHT_KEY = "turn";

/** Failed turns of one session, as one item. */
export const explanationNamespace = (ref: TranscriptRef): string[] => [
  "explanations",
  encodeLabel(ref.owner),
  encodeLabel(ref.sessionKey),
  encodeLabel(ref.sessionId),
];

/** Summaries of a conversation as one of its sessions reads it, one item a range of turns. */
export const summaryNamespace = (ref: TranscriptRef): string[] => [
  "summaries",
  encodeLabel(ref.owner),
  encodeLabel(ref.sessionKey),
  encodeLabel(ref.sessionId),
];

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

/** Bytes and long texts of an owner, one item a content hash. */
export const blobNamespace = (owner: string): string[] => ["blobs", encodeLabel(owner)];

/** Key of a turn's item: the number with leading zeros, so that keys sort as turns do. */
export const turnItemKey = (turn: number): string => String(turn).padStart(8, "0");
