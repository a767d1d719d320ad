/** The turn in flight as nodes read it from the state: its session, and its messages. */
import type { AIMessage, BaseMessage } from "@langchain/core/messages";
import { LilyError } from "#src/kernel/errors.ts";
import type { Message } from "#src/sessions/message.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { isNotice } from "./messages.ts";
import type { SessionStateValues, TurnInFlight } from "./state.ts";

type Messages = Pick<SessionStateValues, "messages" | "window">;

/** Session and turn of a state inside a turn. @throws {LilyError} `internal` when a graph was wired wrongly */
export function requireTurn(state: Pick<SessionStateValues, "session" | "turn">): {
  session: SessionFields;
  turn: TurnInFlight;
} {
  if (state.session === null || state.turn === null) {
    throw new LilyError("internal", "this step runs only inside a turn", { next: "Send the message again." });
  }
  return { session: state.session, turn: state.turn };
}

/** Messages of the turn as they stand in `messages`; the first is the user's. */
export function messagesInFlight(state: Messages, turn: TurnInFlight): BaseMessage[] {
  const begin = state.messages.findIndex((message) => message.id === turn.firstMessageId);
  if (begin === -1) return [];
  const isCommitted = (id: string): boolean => state.window.some(({ messageIds }) => messageIds.includes(id));
  return state.messages
    .slice(begin)
    .filter((message) => !isNotice(message) && !isCommitted(message.id ?? ""));
}

/** The user's message as a model is given it: what is to be answered, without a command before it. */
export function userMessage({ text, attachments }: Pick<TurnInFlight, "text" | "attachments">): Message {
  return {
    role: "user",
    content: text,
    timestamp: "",
    ...(attachments === undefined ? {} : { attachments }),
  };
}

/** Whether a model's message asks for tools, also by calls that could not be read. */
export function asksForTools(message: AIMessage): boolean {
  return (message.tool_calls ?? []).length + (message.invalid_tool_calls ?? []).length > 0;
}
