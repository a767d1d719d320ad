/** The port of the HTTP routes: conversations by session key, whatever runs the graph behind it. */
import type { KeyRef, SessionRepository } from "#src/sessions/repository.ts";
import type { TurnRequest } from "#src/turns/run-turn.ts";
import type { TurnReply } from "#src/turns/turn-reply.ts";

/** Conversations of one caller. */
export interface Conversations {
  /** Takes one message to its reply. Never rejects for what a caller can do wrong: see `runTurn`. */
  send(request: TurnRequest): Promise<TurnReply>;
  /** Stops the turn that runs on the key; what there is of its answer is kept. `false`: nothing was running. */
  stop(ref: KeyRef): Promise<boolean>;
  /** Transcripts and chains, for reading. */
  readonly repository: SessionRepository;
  /** Resolves when the storage answers. @throws what it answers with instead */
  ready(): Promise<void>;
}

/** Who asks. */
export interface Caller {
  readonly owner: string;
  /** The request as it came, for adapters that pass its credentials on. */
  readonly request: Request;
}

/** Opens the conversations of the caller of one request, who is authenticated already. */
export type OpenConversations = (caller: Caller) => Conversations;
