/** What a caller is told about a turn. */
import { z } from "zod";
import { envelopeSchema, replyText, type Envelope } from "#src/kernel/envelope.ts";
import { turnStatusSchema } from "#src/sessions/turn-record.ts";

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
