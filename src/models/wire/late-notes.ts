/** Puts what the program says late in a conversation where every server takes it: at the beginning of the user's message. */
import { both } from "./abilities.ts";

/** A message as far as it matters here. */
interface RoledMessage {
  readonly role?: unknown;
  readonly content?: unknown;
}

/** The messages with each system message but the first as the beginning of the user's message behind it. */
export function withNotesInMessage<M extends RoledMessage>(messages: readonly M[]): M[] {
  const folded: M[] = [];
  let notes: unknown;
  for (const [index, message] of messages.entries()) {
    if (index > 0 && (message.role === "system" || message.role === "developer")) {
      notes = notes === undefined ? message.content : both(notes, message.content);
    } else if (notes !== undefined && message.role === "user") {
      folded.push({ ...message, content: both(notes, message.content) });
      notes = undefined;
    } else folded.push(message);
  }
  const [first] = messages;
  return notes === undefined || first === undefined
    ? folded
    : [...folded, { ...first, role: "user", content: notes }];
}
