/** `commit`: makes the turn part of the conversation, by one put of its record. */
import { AIMessage } from "@langchain/core/messages";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { toInstant } from "#src/kernel/clock.ts";
import { commitTurn } from "../commit-turn.ts";
import { replyOf } from "../handled.ts";
import { requireTurn } from "../require.ts";
import { readRunContext, type NodeRuntime } from "../run-context.ts";
import type { SessionStateValues, SessionUpdate } from "../state.ts";
import { draftOf } from "../turn-draft.ts";
import { messagesInFlight } from "../turn-messages.ts";
import { extendWindow } from "../window.ts";

/** Makes the node. */
export function commit(deps: SessionDeps) {
  return async (state: SessionStateValues, runtime: NodeRuntime): Promise<SessionUpdate> => {
    const { session, turn } = requireTurn(state);
    const { repository } = readRunContext(deps, runtime);
    const told =
      turn.outcome === null
        ? []
        : [new AIMessage({ content: turn.outcome.envelope.message, id: deps.ids.uuid() })];
    const messages = [...messagesInFlight(state, turn), ...told];
    const at = toInstant(deps.clock.now());
    const draft = draftOf(state, turn, { messages, status: turn.status, at });
    const committed = await commitTurn(deps, repository, session, draft);
    const { record } = committed;
    const limit = deps.limits.windowCharacters;
    const extended = extendWindow(state.window, { turn: record.turn, messages }, limit);
    return {
      session: { ...committed.session, toldNoModel: session.toldNoModel || turn.notice !== null },
      units: [...state.units, ...turn.stagedUnits],
      turn: null,
      window: extended.window,
      reply: replyOf(record, false),
      messages: [...told, ...extended.removals],
    };
  };
}
