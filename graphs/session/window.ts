/** Keeps `messages` bounded: the newest committed turns stay for clients, older ones are in the transcript alone. */
import { RemoveMessage, type BaseMessage } from "@langchain/core/messages";
import type { z } from "zod";
import type { TurnRecord } from "#src/sessions/turn-record.ts";
import { attachmentsOf } from "#src/turns/attachment-blocks.ts";
import { contentText, toLangChain } from "#src/turns/langchain-messages.ts";
import type { windowSchema } from "./state.ts";

type Window = z.infer<typeof windowSchema>;

/** The window with a turn added, and the removal of the messages that fell out of it. The newest turn always stays. */
export function extendWindow(
  window: Window,
  turn: { readonly turn: number; readonly messages: readonly BaseMessage[] },
  limitCharacters: number,
): { readonly window: Window; readonly removals: RemoveMessage[] } {
  const added = {
    turn: turn.turn,
    messageIds: turn.messages.map((message) => message.id ?? ""),
    characters: turn.messages.reduce((sum, message) => sum + charactersOf(message), 0),
  };
  let characters = added.characters;
  let first = window.length;
  for (; first > 0; first -= 1) {
    characters += window[first - 1]?.characters ?? 0;
    if (characters > limitCharacters) break;
  }
  const dropped = window.slice(0, first);
  return {
    window: [...window.slice(first), added],
    removals: dropped.flatMap((entry) => entry.messageIds.map((id) => new RemoveMessage({ id }))),
  };
}

/** Room that the reference of an attachment takes. */
const REFERENCE_CHARACTERS = 250;

function charactersOf({ content }: BaseMessage): number {
  return contentText(content).length + attachmentsOf(content).length * REFERENCE_CHARACTERS;
}

/** An empty window, and the removal of all that was in it. */
export function clearWindow(window: Window): ReturnType<typeof extendWindow> {
  const removals = window.flatMap((entry) => entry.messageIds.map((id) => new RemoveMessage({ id })));
  return { window: [], removals };
}

/** The messages of a stored turn, for `messages`. Ids are derived from the turn, the user's is the delivery id. */
export function messagesOf(record: TurnRecord): BaseMessage[] {
  return record.messages.map((message, index) =>
    toLangChain(message, index === 0 ? record.deliveryId : `${record.sessionId}:${record.turn}:${index}`),
  );
}
