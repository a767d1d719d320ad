/** What a delivery wants, and whether it was handled before. */
import type { Command } from "#src/commands/command.ts";
import { parseCommand } from "#src/commands/parse-command.ts";
import { findCommand } from "#src/commands/registry.ts";
import { done } from "#src/kernel/envelope.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { entryOf, openedBy, type Chain, type ChainEntry } from "#src/sessions/chain.ts";
import type { SessionRepository } from "#src/sessions/repository.ts";
import { textHashOf } from "#src/sessions/seal.ts";
import { answerOf, type TurnRecord } from "#src/sessions/turn-record.ts";
import type { TurnReply } from "#src/turns/turn-reply.ts";
import type { Delivery } from "./inbound.ts";

/** What a message asks for. */
export type Intent =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "command"; readonly command: Command; readonly args: string }
  | { readonly kind: "unknown"; readonly name: string }
  | { readonly kind: "elsewhere"; readonly bot: string };

/**
 * The intent of a delivery. One that carried out a rotation already stands for the text behind the command, so that a
 * retry of `/new hello` neither rotates again nor loses "hello".
 */
export function readIntent(chain: Chain, delivery: Delivery, botNames: readonly string[]): Intent {
  const parsed = parseCommand(delivery.text, botNames);
  const rotatedBy = openedBy(chain, delivery.deliveryId)?.opened.verdict;
  if (rotatedBy?.trigger === "command") {
    const isSame = parsed.kind === "command" && `/${parsed.name}` === rotatedBy.command;
    return { kind: "text", text: isSame ? textBehind(parsed.name, parsed.args) : delivery.text };
  }
  if (parsed.kind === "text") return { kind: "text", text: delivery.text };
  if (parsed.kind === "elsewhere") return parsed;
  const command = findCommand(parsed.name);
  return command === undefined
    ? { kind: "unknown", name: parsed.name }
    : { kind: "command", command, args: parsed.args };
}

/** The text that a rotating command leaves to the new session: all of it for `/new`, none for `/resume`. */
function textBehind(name: string, args: string): string {
  return name === "new" ? args : "";
}

/**
 * The stored reply to a delivery that was handled before, `undefined` when it was not.
 *
 * @throws {LilyError} `delivery_conflict` when the id was used for another text.
 */
export async function findHandled(
  repository: SessionRepository,
  chain: Chain,
  delivery: Delivery & { readonly intent: Intent },
): Promise<TurnReply | undefined> {
  const pointer = await repository.readDelivery(chain, delivery.deliveryId);
  if (pointer === undefined) return undefined;
  if (pointer.turn !== null) {
    const record = await repository.readTurn({ ...chain, sessionId: pointer.sessionId }, pointer.turn);
    if (record?.deliveryId === delivery.deliveryId) return repeated(record, delivery);
  }
  const opened = openedBy(chain, delivery.deliveryId);
  const isBare = delivery.intent.kind === "text" && delivery.intent.text === "";
  return opened !== undefined && isBare ? repeatedRotation(chain, opened, delivery.deliveryId) : undefined;
}

function repeated(record: TurnRecord, delivery: Delivery & { readonly intent: Intent }): TurnReply {
  const text = delivery.intent.kind === "text" ? delivery.intent.text : delivery.text;
  if (record.textHash !== textHashOf(text)) {
    throw new LilyError(
      "delivery_conflict",
      `the delivery id ${JSON.stringify(delivery.deliveryId)} was used for another text`,
      {
        next: "Give each message an id of its own. Nothing was stored.",
      },
    );
  }
  return replyOf(record, true);
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

/** The reply to a rotation without text. */
export function rotationReply(chain: Chain, opened: ChainEntry, deliveryId: string): TurnReply {
  const verdict = opened.opened.verdict;
  const command = verdict?.trigger === "command" ? findCommand(verdict.command.slice(1)) : undefined;
  const ended = entryOf(chain, opened.previous ?? "");
  const envelope =
    command?.kind === "rotating" && ended !== undefined
      ? command.notice(ended, opened)
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
