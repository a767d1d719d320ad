/** The kernel's view of a session, a list of messages, and the implementation that lives in memory. */
import type { Ids } from "#src/kernel/ids.ts";
import { copyMessage, type Message } from "./message.ts";

/** The messages of one conversation, in the order in which they were added. */
export interface Session {
  /** Identifier of the session, the same for its whole life. */
  id(): string;
  /** Adds a copy of `message` at the end. The timestamp is kept as given. */
  addMessage(message: Message): void;
  /** A copy of all messages; changing it does not change the session. */
  messages(): Message[];
  /** Removes all messages. */
  clear(): void;
}

/** Makes an empty session in memory. */
export function createMemorySession(ids: Pick<Ids, "uuid">): Session {
  const sessionId = ids.uuid();
  let messages: Message[] = [];
  return {
    id: () => sessionId,
    addMessage(message) {
      messages.push(copyMessage(message));
    },
    messages: () => messages.map(copyMessage),
    clear() {
      messages = [];
    },
  };
}
