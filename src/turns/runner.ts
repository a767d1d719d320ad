/** The port through which a turn reaches the session graph. */
import type { Envelope } from "#src/kernel/envelope.ts";
import type { LeaseRef } from "#src/storage/backend.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import type { TurnReply } from "./turn-reply.ts";

/** What happens while a turn runs, in order, for a person who watches. */
export type TurnEvent =
  /** Another turn on the key is running; this one waits. */
  | { readonly type: "waiting" }
  /** The turn runs on this session from now on. */
  | { readonly type: "session"; readonly sessionId: string }
  /** Said before the answer: a rollover, or that no model is configured. */
  | { readonly type: "notice"; readonly text: string }
  /** The next piece of the answer. */
  | { readonly type: "token"; readonly text: string }
  /** A tool begins. */
  | { readonly type: "tool"; readonly name: string };

/** A message on its way into a thread. */
export interface InboundMessage {
  /** Delivery id. */
  readonly id: string;
  /** Text, or content parts as a provider-neutral client sends them. */
  readonly content: unknown;
}

/** The deliveries that were joined into one message. */
export interface CollectedDeliveries {
  /** Hash of the text of the first delivery alone, whose id the message has. */
  readonly textHash: string;
  /** Those after it, in order. */
  readonly others: { readonly deliveryId: string; readonly textHash: string }[];
}

/** One run of the session graph on one thread. */
export interface GraphRun {
  readonly threadId: string;
  readonly owner: string;
  readonly sessionKey: string;
  readonly message: InboundMessage;
  /** What a person decided: the run that waits on the thread goes on with it, in place of a message. */
  readonly resume?: object;
  /**
   * The lease under which the run writes; with the deliveries of which the message is made, if more than one, and the
   * receipt of what was erased for it before.
   */
  readonly fence?: LeaseRef & { readonly collected?: CollectedDeliveries; readonly erased?: Envelope };
  /** Ends the run at once, without a commit: the lease is lost. */
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: TurnEvent) => void;
}

/** How a run ended: with a reply, or by handing the message to another session. */
export type GraphRunOutcome = (
  | { readonly kind: "reply"; readonly reply: TurnReply }
  | { readonly kind: "handoff"; readonly sessionId: string; readonly message: InboundMessage }
) & {
  /** Why the checkpoint behind it could not be stored; nothing is lost by that. */
  readonly unstored?: string;
};

/** Runs the session graph. */
export interface SessionRunner {
  run(request: GraphRun): Promise<GraphRunOutcome>;
  /** Session fields of a thread as its newest checkpoint has them; `undefined` where it has none. */
  readSession(threadId: string): Promise<SessionFields | undefined>;
}
