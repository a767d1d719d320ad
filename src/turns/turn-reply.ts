/** What a caller is told about a turn; of one that was handled before, out of its record. */
import { z } from "zod";
import { done, envelopeSchema, replyText, type Envelope } from "#src/kernel/envelope.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { defined } from "#src/kernel/json.ts";
import { deliveryIdsOf, isRedacted, type RedactedTurn, type StoredTurn } from "#src/sessions/redaction.ts";
import type { KeyRef, SessionRepository } from "#src/sessions/repository.ts";
import { answerOf } from "#src/sessions/transcript.ts";
import { turnStatusSchema, type TurnRecord } from "#src/sessions/turn-record.ts";

export const turnReplySchema = z.strictObject({
  /**
   * `answered`: the text was answered. `command`: a command ran. `rotated`: the session was ended and there was no
   * text to answer. `ignored`: meant for another bot. `refused`: nothing was changed. `failed`: the turn failed.
   */
  outcome: z.enum(["answered", "command", "rotated", "ignored", "refused", "failed"]),
  /** Session whose transcript holds the turn, or that is latest now. */
  sessionId: z.string(),
  deliveryId: z.string(),
  /** Number of the committed turn; `null` when none was committed. */
  turn: z.int().nullable(),
  status: turnStatusSchema.nullable(),
  /** The delivery was handled before; this is the stored reply. */
  repeated: z.boolean(),
  /** Tells of a rollover that nobody asked for, and how to undo it. */
  announcement: z.string().optional(),
  /** Said before the answer, not part of the conversation. */
  notice: z.string().optional(),
  /** The answer (code `answered`) or the outcome of a command or refusal. */
  envelope: envelopeSchema,
});

/** Reply to one message. */
export type TurnReply = z.infer<typeof turnReplySchema>;

/** A reply that refuses a message; nothing was stored. */
export function refusal(
  envelope: Envelope,
  where: { sessionId?: string; deliveryId?: string } = {},
): TurnReply {
  return {
    outcome: "refused",
    sessionId: where.sessionId ?? "",
    deliveryId: where.deliveryId ?? "",
    turn: null,
    status: null,
    repeated: false,
    envelope,
  };
}

/** How a next step says what became of the message. */
const SAYS_WHETHER_KEPT = /\b(?:stored|kept|nothing was (?:changed|done|run))\b/iu;

/** The envelope of a failed turn, which always says whether the message was kept: unless it says otherwise, it was not. */
export function unstoredEnvelope(envelope: Envelope): Envelope {
  const { next } = envelope;
  if (next === undefined) return { ...envelope, next: "Your message was not stored; send it again." };
  return SAYS_WHETHER_KEPT.test(next)
    ? envelope
    : { ...envelope, next: `${next} Your message was not stored.` };
}

/** The reply with its whole text, for clients that show no more than text. */
export function withText(reply: TurnReply): TurnReply {
  return { ...reply, envelope: { ...reply.envelope, text: replyText(reply.envelope) } };
}

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
    ...defined({ announcement, notice }),
    envelope: envelope ?? done("answered", answerOf(record)),
  };
}
