/** Sorts the `messages` channel: what is committed, what is in flight, what just came in. */
import { HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { LilyError } from "#src/kernel/errors.ts";
import type { Attachment } from "#src/sessions/message.ts";
import { parseDeliveryId } from "#src/sessions/session-key.ts";
import { contentOf } from "#src/turns/langchain-messages.ts";
import { type InboundAttachment, type InboundLimits, parseInbound } from "#src/turns/inbound.ts";
import { deliveredId, isNotice, markOf } from "./messages.ts";
import type { SessionStateValues } from "./state.ts";

/** The messages of the state by what they are. */
export interface SortedMessages {
  /** Of the run before; those that stay belong to an entry of the window. */
  readonly notices: readonly BaseMessage[];
  /** Of a turn that began in an earlier run and did not end. */
  readonly inFlight: readonly BaseMessage[];
  /** What the caller of this run sent: the newest user message, and what came with it. */
  readonly inbound: readonly BaseMessage[];
  /** What else stands behind the last committed turn: added by hand, or of a run that ended before its first step. */
  readonly leftOver: readonly BaseMessage[];
}

/** Sorts messages at the begin of a run, before anything of this run was added. */
export function sortMessages(
  state: Pick<SessionStateValues, "messages" | "window" | "turn">,
): SortedMessages {
  const committed = new Set(state.window.flatMap((turn) => turn.messageIds));
  const beside = state.messages.filter((message) => !committed.has(message.id ?? ""));
  const open = beside.filter((message) => !isNotice(message));
  const begin = open.findIndex((message) => message.id === state.turn?.firstMessageId);
  const notices = beside.filter(isNotice);
  if (begin === -1) return { notices, inFlight: [], ...apart(open) };
  // A turn has one user message, its first; the next one is this run's.
  const next = open.findIndex((message, index) => index > begin && HumanMessage.isInstance(message));
  const end = next === -1 ? open.length : next;
  return {
    notices,
    inFlight: open.slice(begin, end),
    ...apart([...open.slice(0, begin), ...open.slice(end)]),
  };
}

/** The newest user message is what this run is about, with the others of the same input. */
function apart(open: readonly BaseMessage[]): Pick<SortedMessages, "inbound" | "leftOver"> {
  const newest = open.findLast((message) => HumanMessage.isInstance(message));
  if (newest === undefined) return { inbound: open, leftOver: [] };
  const isInbound = (message: BaseMessage): boolean =>
    HumanMessage.isInstance(message) &&
    (deliveredId(message) === deliveredId(newest) ||
      (markOf(newest).together === true && markOf(message).together === true));
  return { inbound: open.filter(isInbound), leftOver: open.filter((message) => !isInbound(message)) };
}

/** The one message of a run. */
export interface Delivery {
  readonly deliveryId: string;
  /** The message as it stands in `messages`; one with attachments as it shall stand there, with references alone. */
  readonly message: HumanMessage;
  readonly text: string;
  readonly attachments: readonly Attachment[];
  /** The same with their bytes, to be kept. */
  readonly contents: readonly InboundAttachment[];
}

/**
 * The delivery in what the caller sent. A caller that sends its whole history with the ids it was given is understood:
 * only a message that is not known yet counts then.
 *
 * @throws {LilyError} `message_blank`, `message_invalid`, `message_multiple`, `message_too_large`, `delivery_id_invalid`
 */
export function readDelivery(inbound: readonly BaseMessage[], limits: InboundLimits): Delivery {
  const malformed = inbound.map((message) => markOf(message).malformed).find((why) => why !== undefined);
  if (malformed !== undefined) throw invalid(`the message cannot be read: ${malformed}`);
  const fresh = inbound.filter((message) => markOf(message).redelivers === undefined);
  const candidates = fresh.length > 0 ? fresh : inbound.slice(-1);
  const users = candidates.filter((candidate) => HumanMessage.isInstance(candidate));
  const [message, ...others] = users;
  if (users.length < candidates.length)
    throw invalid("only a user message can be sent; what Lily said it knows already");
  if (message === undefined) {
    throw new LilyError("message_blank", "there is no message to answer", { next: "Send one user message." });
  }
  if (others.length > 0) {
    throw new LilyError("message_multiple", `${candidates.length} messages were sent at once`, {
      next: "Send only the new message, one a turn. Nothing was stored.",
    });
  }
  const { text, attachments: contents } = parseInbound(message.content, limits);
  const attachments = contents.map(({ attachment }) => attachment);
  return {
    deliveryId: parseDeliveryId(deliveredId(message)),
    message: attachments.length === 0 ? message : referring(message, text, attachments),
    text,
    attachments,
    contents,
  };
}

/** The same message without the bytes of what it carries: no checkpoint holds them. */
function referring(message: HumanMessage, text: string, attachments: readonly Attachment[]): HumanMessage {
  return new HumanMessage({
    content: contentOf(text, attachments),
    ...(message.id === undefined ? {} : { id: message.id }),
    additional_kwargs: message.additional_kwargs,
  });
}

function invalid(what: string): LilyError {
  return new LilyError("message_invalid", what, {
    next: "Send one message of role user with text. Nothing was stored.",
  });
}
