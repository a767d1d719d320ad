/** The conversations of a server that runs the graph itself: the port of the routes on local sessions. */
import type { LocalSessions } from "#graphs/session/local.ts";
import type { Conversations, OpenConversations } from "./conversations.ts";

/** What the conversations are made of. */
export interface LocalConversationsDeps {
  readonly sessions: Pick<LocalSessions, "send" | "stop" | "repository">;
}

/** Makes what opens conversations. They are the same for all callers: each request names its owner. */
export function createLocalConversations({ sessions }: LocalConversationsDeps): OpenConversations {
  const { repository } = sessions;
  const conversations: Conversations = {
    repository,
    send: (request) => sessions.send(request),
    stop: (ref) => sessions.stop(ref),
    // Any read will do.
    ready: async () => void (await repository.readChain({ owner: "ready", sessionKey: "ready" })),
  };
  return () => conversations;
}
