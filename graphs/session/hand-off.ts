/** Hands a message to the session that has to answer it: the run ends here, and says where it goes on. */
import { HumanMessage, type BaseMessage } from "@langchain/core/messages";
import type { SessionDeps } from "#src/app/session-deps.ts";
import type { Attachment } from "#src/sessions/message.ts";
import type { KeyRef } from "#src/sessions/repository.ts";
import { contentOf } from "#src/turns/langchain-messages.ts";
import { noticeMessage, removalOf } from "./messages.ts";
import type { RunContext } from "./run-context.ts";
import type { SessionStateValues, SessionUpdate } from "./state.ts";
import { BESIDE, extendWindow } from "./window.ts";

/** A message that another session answers. */
export interface HandedOff {
  readonly ref: KeyRef;
  /** The session that answers. */
  readonly sessionId: string;
  readonly deliveryId: string;
  readonly text: string;
  readonly attachments: readonly Attachment[] | undefined;
  /** Messages of this thread that are no turn of it: they go, but for the user's. */
  readonly leaving: readonly BaseMessage[];
  /** The user's message, which stays to be seen, and why it is not answered here. */
  readonly message: BaseMessage;
  readonly why: string;
}

type Shown = Pick<SessionStateValues, "messages" | "window">;

/** Ends the run. A server learns of the thread, and starts its run where the caller does not follow by itself. */
export async function handOff(
  deps: SessionDeps,
  { followsHandoff }: Pick<RunContext, "followsHandoff">,
  { ref, sessionId, deliveryId, text, attachments, ...shown }: HandedOff,
  state: Shown,
): Promise<SessionUpdate> {
  const message = { id: deliveryId, content: contentOf(text, attachments) };
  const { owner, sessionKey } = ref;
  await deps.threads.start({ owner, sessionKey, sessionId, ...(followsHandoff ? {} : { message }) });
  const told = linkTo(sessionId, shown.why, "Your message is answered there");
  return {
    turn: null,
    reply: null,
    handoff: { sessionId, message },
    ...standBeside(deps, state, { ...shown, deliveryId, told }),
  };
}

/** A sentence with a link to a session's thread that chat pages can follow. */
export function linkTo(sessionId: string, sentence: string, label: string): string {
  return `${sentence} [${label}](?threadId=${sessionId})`;
}

/** The update by which a user's message that is no turn of this thread stays to be seen, with what is told of it. */
export function standBeside(
  { ids, limits }: Pick<SessionDeps, "ids" | "limits">,
  { messages: before, window }: Shown,
  shown: Pick<HandedOff, "deliveryId" | "leaving" | "message"> & { readonly told: string },
): Pick<SessionUpdate, "messages" | "window"> {
  const { deliveryId, leaving, message, told } = shown;
  // Under another id: sent again, the message is a new one to this thread.
  const said = new HumanMessage({ id: ids.uuid(), content: message.content });
  const notice = noticeMessage(told, ids.uuid());
  const added = { turn: BESIDE, messages: [said, notice], deliveryId };
  const staying = before.filter((one) => !leaving.includes(one));
  const extended = extendWindow(window, added, limits, staying);
  return {
    window: extended.window,
    messages: [...leaving.map(removalOf), ...extended.changes, said, notice],
  };
}
