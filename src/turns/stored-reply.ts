/** The reply to a delivery that was handled before, out of the record of its turn. */
import { done } from "#src/kernel/envelope.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { deliveryIdsOf, isRedacted, type RedactedTurn, type StoredTurn } from "#src/sessions/redaction.ts";
import type { KeyRef, SessionRepository } from "#src/sessions/repository.ts";
import { answerOf, type TurnRecord } from "#src/sessions/turn-record.ts";
import type { TurnReply } from "./turn-reply.ts";

/** A delivery by its id and the hash of its own text. */
export interface DeliveredText {
  readonly deliveryId: string;
  readonly textHash: string;
}

/**
 * The stored reply to a text that was answered before, alone or together with others; `undefined` when it was not. Where
 * the turn was erased it says so: nobody can tell any more whether the text is the same.
 *
 * @throws {LilyError} `delivery_conflict` when the id was used for another text.
 */
export async function findStoredReply(
  repository: SessionRepository,
  ref: KeyRef,
  delivery: DeliveredText,
): Promise<TurnReply | undefined> {
  const { deliveryId, textHash } = delivery;
  const record = await findAnswer(repository, ref, deliveryId);
  if (record === undefined) return undefined;
  if (isRedacted(record)) return { ...erasedReply(record), deliveryId };
  if (deliveriesOf(record).get(deliveryId) !== textHash) throw deliveryConflict(deliveryId);
  return { ...replyOf(record, true), deliveryId };
}

/** The turn that answered a delivery, alone or together with others, or its mark; `undefined` when none did. */
export async function findAnswer(
  repository: SessionRepository,
  { owner, sessionKey }: KeyRef,
  deliveryId: string,
): Promise<StoredTurn | undefined> {
  const pointer = await repository.readDelivery({ owner, sessionKey }, deliveryId);
  if (pointer === undefined || pointer.turn === null) return undefined;
  const ref = { owner, sessionKey, sessionId: pointer.sessionId };
  const stored = await repository.readStoredTurn(ref, pointer.turn);
  return stored !== undefined && deliveryIdsOf(stored).includes(deliveryId) ? stored : undefined;
}

/** The deliveries that a turn answered, in order, with the hash of the text of each. */
function deliveriesOf(
  record: Pick<TurnRecord, "deliveryId" | "textHash" | "collected">,
): Map<string, string> {
  const all = [record, ...(record.collected ?? [])];
  return new Map(all.map(({ deliveryId, textHash }) => [deliveryId, textHash]));
}

/** The refusal of an id that comes with another text than before. */
export function deliveryConflict(deliveryId: string): LilyError {
  const id = JSON.stringify(deliveryId);
  return new LilyError("delivery_conflict", `the delivery id ${id} was used for another text`, {
    next: "Give each message an id of its own. Nothing was stored.",
  });
}

/** The reply to a delivery whose turn was erased: it is never answered a second time. */
function erasedReply({ deliveryId, kind, redacted, sessionId, turn }: RedactedTurn): TurnReply {
  const message = `this message was answered, and what was said was erased at ${redacted.at}`;
  return {
    outcome: kind === "command" ? "command" : "answered",
    sessionId,
    deliveryId,
    turn,
    status: null,
    repeated: true,
    envelope: done("turn_erased", message, { data: { erasedAt: redacted.at } }),
  };
}

/** The reply to a committed turn. */
export function replyOf(record: TurnRecord, isRepeated: boolean): TurnReply {
  const { announcement, notice, envelope } = record.reply;
  return {
    outcome: record.kind === "command" ? "command" : "answered",
    sessionId: record.sessionId,
    deliveryId: record.deliveryId,
    turn: record.turn,
    status: record.status,
    repeated: isRepeated,
    ...(announcement === undefined ? {} : { announcement }),
    ...(notice === undefined ? {} : { notice }),
    envelope: envelope ?? done("answered", answerOf(record)),
  };
}
