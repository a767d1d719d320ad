/** `commit`: makes the turn part of the conversation, by one put of its record. */
import { AIMessage } from "@langchain/core/messages";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { toInstant } from "#src/kernel/clock.ts";
import { replyOf } from "#src/turns/stored-reply.ts";
import { commitTurn } from "../commit-turn.ts";
import { readRunContext, type NodeRuntime } from "../run-context.ts";
import type { SessionStateValues, SessionUpdate } from "../state.ts";
import { draftOf } from "../turn-draft.ts";
import { messagesInFlight, requireTurn } from "../turn-messages.ts";
import { clearWindow, extendWindow } from "../window.ts";

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
    const { verdict } = state;
    const at = toInstant(deps.clock.now());
    const draft = draftOf(turn, { verdict, messages, status: turn.status, at });
    const committed = await commitTurn(deps, repository, session, draft);
    const { record } = committed;
    deps.shownTurns.remember(record);
    const cleared = turn.clears ? clearWindow(state.window) : { window: state.window, removals: [] };
    const extended = extendWindow(
      cleared.window,
      { turn: record.turn, messages },
      deps.limits.windowCharacters,
    );
    return {
      session: committed.session,
      units: [...(turn.clears ? [] : state.units), ...turn.stagedUnits],
      turn: null,
      window: extended.window,
      reply: replyOf(record, false),
      messages: [...told, ...cleared.removals, ...extended.removals],
    };
  };
}
