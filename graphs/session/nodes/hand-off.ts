/** `handOff`: ends this run and names the session that has to answer. */
import { LilyError } from "#src/kernel/errors.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { contentOf } from "#src/turns/attachment-blocks.ts";
import { noticeMessage, removalOf } from "../messages.ts";
import { readRunContext, type NodeRuntime } from "../run-context.ts";
import type { SessionStateValues, SessionUpdate } from "../state.ts";
import { messagesInFlight } from "../turn-messages.ts";
import { closingText } from "./rotate.ts";

/** Makes the node. */
export function handOff(deps: SessionDeps) {
  return async (state: SessionStateValues, runtime: NodeRuntime): Promise<SessionUpdate> => {
    const { turn } = state;
    if (turn === null || turn.latest === null)
      throw new LilyError("internal", "there is no session to hand off to");
    const run = readRunContext(deps, runtime);
    const message = { id: turn.deliveryId, content: contentOf(turn.text, turn.attachments) };
    const ref = (await run.repository.findSession(turn.latest)) ?? {
      owner: run.owner,
      sessionKey: run.sessionKey ?? run.threadId,
    };
    await deps.threads.start({ ...ref, sessionId: turn.latest, ...(run.followsHandoff ? {} : { message }) });
    return {
      turn: null,
      handoff: { sessionId: turn.latest, message },
      messages: [
        ...messagesInFlight(state, turn).map(removalOf),
        noticeMessage(closingText("This conversation has ended.", turn.latest), deps.ids.uuid()),
      ],
    };
  };
}
