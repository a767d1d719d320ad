/** Hands a message to the session that has to answer it: the run ends here, and says where it goes on. */
import type { BaseMessage } from "@langchain/core/messages";
import type { SessionDeps } from "#src/app/session-deps.ts";
import type { Attachment } from "#src/sessions/attachment.ts";
import type { KeyRef } from "#src/sessions/repository.ts";
import { contentOf } from "#src/turns/attachment-blocks.ts";
import { noticeMessage, removalOf } from "./messages.ts";
import type { RunContext } from "./run-context.ts";
import type { SessionUpdate } from "./state.ts";

/** A message that another session answers. */
export interface HandedOff {
  readonly ref: KeyRef;
  /** The session that answers. */
  readonly sessionId: string;
  readonly deliveryId: string;
  readonly text: string;
  readonly attachments: readonly Attachment[] | undefined;
  /** Messages of this thread that go with it. */
  readonly leaving: readonly BaseMessage[];
}

/** Ends the run. A server learns of the thread, and starts its run where the caller does not follow by itself. */
export async function handOff(
  deps: SessionDeps,
  { followsHandoff }: Pick<RunContext, "followsHandoff">,
  { ref, sessionId, deliveryId, text, attachments, leaving }: HandedOff,
): Promise<SessionUpdate> {
  const message = { id: deliveryId, content: contentOf(text, attachments) };
  const { owner, sessionKey } = ref;
  await deps.threads.start({ owner, sessionKey, sessionId, ...(followsHandoff ? {} : { message }) });
  return {
    turn: null,
    reply: null,
    handoff: { sessionId, message },
    messages: [
      ...leaving.map(removalOf),
      noticeMessage(closingText("This conversation has ended.", sessionId), deps.ids.uuid()),
    ],
  };
}

/** The closing notice of an ended thread, with a link that chat pages can follow. */
export function closingText(message: string, sessionId: string): string {
  return `${message} [Continue in the new session](?threadId=${sessionId})`;
}
