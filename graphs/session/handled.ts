/** What a delivery wants, and whether it was handled before. */
import type { Command } from "#src/commands/command.ts";
import { parseCommand } from "#src/commands/parse-command.ts";
import { findCommand } from "#src/commands/registry.ts";
import { done, type Envelope } from "#src/kernel/envelope.ts";
import { entryOf, openedBy, type Chain, type ChainEntry } from "#src/sessions/chain.ts";
import type { SessionRepository } from "#src/sessions/repository.ts";
import { textHashOf } from "#src/sessions/seal.ts";
import { deliveryConflict, findStoredReply, type TurnReply } from "#src/turns/turn-reply.ts";
import type { Delivery } from "./inbound.ts";

/** What a message asks for. */
export type Intent =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "command"; readonly command: Command; readonly args: string }
  | { readonly kind: "unknown"; readonly name: string }
  | { readonly kind: "elsewhere"; readonly bot: string };

/** A delivery whose text may be followed by those of others. */
export type OwnDelivery = Delivery & {
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
  return opened !== undefined && isBare ? repeatedRotation(chain, opened, deliveryId) : undefined;
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
  return {
    outcome: "rotated",
    sessionId: opened.sessionId,
    deliveryId,
    turn: null,
    status: null,
    repeated: false,
    envelope,
  };
}

function repeatedRotation(chain: Chain, opened: ChainEntry, deliveryId: string): TurnReply {
  return { ...rotationReply(chain, opened, deliveryId), repeated: true };
}

/** The reply to a command that changed nothing. */
export function commandReply(
  envelope: Envelope,
  where: { readonly sessionId: string; readonly deliveryId: string },
): TurnReply {
  return {
    outcome: envelope.ok ? "command" : "refused",
    sessionId: where.sessionId,
    deliveryId: where.deliveryId,
    turn: null,
    status: null,
    repeated: false,
    envelope,
  };
}
