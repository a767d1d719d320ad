/** The hash chain of a session: salted leaves of turns, a running head, and the seal that closes it; and the names of contents. */
import { hash } from "node:crypto";
import { canonicalJson } from "#src/kernel/json.ts";
import { attachmentId, type Attachment } from "./message.ts";
import type { TurnBody, TurnRecord } from "./turn-record.ts";

/** Head of a session without turns. */
export const EMPTY_HEAD = "";

/** SHA-256 of length-prefixed `parts` as base64url. The first part names what is hashed, so uses never collide. */
function digest(...parts: readonly string[]): string {
  return hash("sha256", parts.map((part) => `${Buffer.byteLength(part)}:${part}`).join(""), "base64url");
}

/** Leaf of a turn: its body under its salt. */
export function leafOf(body: TurnBody, salt: string): string {
  return digest("lily/leaf/1", salt, canonicalJson(body));
}

/** Head after a leaf. */
export function nextHead(head: string, leaf: string): string {
  return digest("lily/head/1", head, leaf);
}

/** The record of `body` as the turn that follows `head`. */
export function linkTurn(body: TurnBody, link: { readonly head: string; readonly salt: string }): TurnRecord {
  const leaf = leafOf(body, link.salt);
  return { ...body, salt: link.salt, leaf, head: nextHead(link.head, leaf) };
}

/** Splits a stored record into what was hashed and its link. */
export function unlinkTurn(record: TurnRecord): { body: TurnBody; salt: string; leaf: string; head: string } {
  const { salt, leaf, head, ...body } = record;
  return { body, salt, leaf, head };
}

/** What a seal covers beside the turns: the chain entry without the seal itself. */
export interface SealedFacts {
  readonly owner: string;
  readonly sessionKey: string;
  readonly head: string;
  readonly turns: number;
  /** ISO instant of the sealing. */
  readonly at: string;
  /** The chain entry at the time of sealing, as JSON. */
  readonly entry: object;
}

/** The seal of a session. */
export function sealOf(facts: SealedFacts): string {
  return digest(
    "lily/seal/1",
    facts.owner,
    facts.sessionKey,
    facts.head,
    String(facts.turns),
    facts.at,
    canonicalJson(facts.entry),
  );
}

/** What stands under a seal for a part of the sealed entry, so that the part can be erased with its salt. */
export function coverOf(part: string, text: string, salt: string): string {
  return digest("lily/cover/1", part, salt, text);
}

/** Turns of a session as they stand: its head behind the last of them, and which of them were erased. */
export interface CoveredTurns {
  readonly sessionId: string;
  readonly from: number;
  readonly to: number;
  readonly head: string;
  readonly erased: readonly number[];
}

/** Hash of what a summary covers: it changes with every turn of it that is erased. */
export function coveredHashOf(covered: readonly CoveredTurns[]): string {
  return digest("lily/summary/1", canonicalJson(covered));
}

/**
 * Short hash of a delivered text, to tell a repeated delivery from another message under the same id. The same text with
 * other attachments is another message.
 */
export function textHashOf(text: string, attachments: readonly Attachment[] = []): string {
  return digest("lily/text/1", text, ...attachments.map(attachmentId)).slice(0, 22);
}

/** The name of content: SHA-256 of its bytes, 64 hex digits. */
export function sha256Of(bytes: Uint8Array): string {
  return hash("sha256", bytes);
}
