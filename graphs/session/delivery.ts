/** What a run was sent: sorted out of `messages`, what it asks for, and whether it was handled before. */
import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import type { Command, RotatingCommand } from "#src/commands/command.ts";
import { parseCommand } from "#src/commands/parse-command.ts";
import { findCommand } from "#src/commands/registry.ts";
import { done, type Envelope } from "#src/kernel/envelope.ts";
import { LilyError } from "#src/kernel/errors.ts";
import type { Attachment } from "#src/sessions/message.ts";
import { type Chain, entryOf, openedBy } from "#src/sessions/chain.ts";
import type { ChainEntry } from "#src/sessions/chain-entry.ts";
import type { SessionRepository } from "#src/sessions/repository.ts";
import { textHashOf } from "#src/sessions/seal.ts";
import { parseDeliveryId } from "#src/sessions/session-key.ts";
import { contentOf } from "#src/turns/langchain-messages.ts";
import { type InboundAttachment, type InboundLimits, parseInbound } from "#src/turns/inbound.ts";
import { deliveryConflict, findStoredReply, refusal, type TurnReply } from "#src/turns/turn-reply.ts";
import { deliveredId, isNotice, isWrittenByHand, markOf, userMessageWith } from "./messages.ts";
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
  // A turn has one user message, its first; the next one is this run's, and so is what a caller sent as Lily's before it.
  const next = open.findIndex((message, index) => index > begin && HumanMessage.isInstance(message));
  const end = next === -1 ? open.length : next;
  const inFlight = open.slice(begin, end).filter((message) => !isWrittenByHand(message));
  return { notices, inFlight, ...apart(open.filter((message) => !inFlight.includes(message))) };
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
    // No checkpoint holds the bytes of what it carries.
    message:
      attachments.length === 0
        ? message
        : userMessageWith(message, { content: contentOf(text, attachments) }),
    text,
    attachments,
    contents,
  };
}

function invalid(what: string): LilyError {
  return new LilyError("message_invalid", what, {
    next: "Send one message of role user with text. Nothing was stored.",
  });
}

/** What a message asks for. */
export type Intent =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "command"; readonly command: Command; readonly args: string }
  | { readonly kind: "unknown"; readonly name: string }
  | { readonly kind: "elsewhere"; readonly bot: string };

/** A delivery whose text may be followed by those of others. */
type OwnDelivery = Delivery & {
  /** Hash of its own text, when others follow it. */
  readonly ownTextHash?: string | undefined;
};

/**
 * The intent of a delivery. One that carried out a rotation already stands for the text behind the command, so that a
 * retry of `/new hello` neither rotates again nor loses "hello".
 *
 * @throws {LilyError} `delivery_conflict` when the id rotated the session with another text.
 */
export function readIntent(chain: Chain, delivery: OwnDelivery, botNames: readonly string[]): Intent {
  const opened = openedBy(chain, delivery.deliveryId)?.opened;
  if (opened !== undefined) {
    const isLeftOver = textHashOf(delivery.text, delivery.attachments) === opened.leftHash;
    const hash = delivery.ownTextHash ?? textHashOf(delivery.text, delivery.attachments);
    // A text that was erased cannot be told from another one.
    const isKnown = opened.textHash !== undefined;
    if (isKnown && !isLeftOver && hash !== opened.textHash) throw deliveryConflict(delivery.deliveryId);
    // By command: the delivery as it came, of which the command was carried out, or the text that was left of it.
    if (opened.verdict === undefined || opened.verdict.trigger === "command") {
      return { kind: "text", text: isLeftOver ? delivery.text : textBehind(delivery.text, botNames) };
    }
  }
  const parsed = parseCommand(delivery.text, botNames);
  if (parsed.kind === "text") return { kind: "text", text: delivery.text };
  if (parsed.kind === "elsewhere") return parsed;
  const command = findCommand(parsed.name);
  return command === undefined
    ? { kind: "unknown", name: parsed.name }
    : { kind: "command", command, args: parsed.args };
}

/** A command that ends the session, where the message asks for one. */
export function rotationIn(
  intent: Intent,
): { readonly command: RotatingCommand; readonly args: string } | undefined {
  if (intent.kind !== "command" || intent.command.kind !== "rotating") return undefined;
  return { command: intent.command, args: intent.args };
}

/** What is to be answered: the delivered text, or what a command that was carried out already left of it. */
export function textToAnswer(delivery: Delivery, intent: Intent): string {
  return intent.kind === "text" ? intent.text : delivery.text;
}

/** The hash by which a delivery is known again: of what it says itself, also when it is answered with others. */
export function deliveredHash(delivery: OwnDelivery, intent: Intent): string {
  return delivery.ownTextHash ?? textHashOf(textToAnswer(delivery, intent), delivery.attachments);
}

/** The text that a rotating command leaves to the new session. */
function textBehind(text: string, botNames: readonly string[]): string {
  const parsed = parseCommand(text, botNames);
  const command = parsed.kind === "command" ? findCommand(parsed.name) : undefined;
  return parsed.kind === "command" && command?.kind === "rotating" ? command.textBehind(parsed.args) : "";
}

/**
 * The stored reply to a delivery that was handled before, `undefined` when it was not.
 *
 * @throws {LilyError} `delivery_conflict` when the id was used for another text.
 */
export async function findHandled(
  repository: SessionRepository,
  chain: Chain,
  delivery: OwnDelivery & { readonly intent: Intent },
): Promise<TurnReply | undefined> {
  const { deliveryId, intent } = delivery;
  const textHash = deliveredHash(delivery, intent);
  const stored = await findStoredReply(repository, chain, { deliveryId, textHash });
  if (stored !== undefined) return stored;
  const opened = openedBy(chain, deliveryId);
  const isBare = intent.kind === "text" && intent.text === "" && delivery.attachments.length === 0;
  return opened !== undefined && isBare
    ? { ...rotationReply(chain, opened, deliveryId), repeated: true }
    : undefined;
}

/** The reply to a rotation without text. */
export function rotationReply(chain: Chain, opened: ChainEntry, deliveryId: string): TurnReply {
  const verdict = opened.opened.verdict;
  const command = verdict?.trigger === "command" ? findCommand(verdict.command.slice(1)) : undefined;
  const ended = entryOf(chain, opened.previous ?? "");
  const envelope =
    command?.kind === "rotating" && ended !== undefined
      ? command.notice(ended, opened, chain)
      : done("session_rotated", "A new conversation began.");
  return { ...refusal(envelope, { sessionId: opened.sessionId, deliveryId }), outcome: "rotated" };
}

/** The reply to a command that changed nothing. */
export function commandReply(
  envelope: Envelope,
  where: { readonly sessionId: string; readonly deliveryId: string },
): TurnReply {
  return { ...refusal(envelope, where), outcome: envelope.ok ? "command" : "refused" };
}
