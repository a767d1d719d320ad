/** `commit`: makes the turn part of the conversation, by one put of its record. */
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { toInstant } from "#src/kernel/clock.ts";
import { replyText } from "#src/kernel/envelope.ts";
import { replyOf } from "#src/turns/turn-reply.ts";
import { commitTurn } from "../commit-turn.ts";
import { readRunContext, type NodeRuntime } from "../run-context.ts";
import type { SessionStateValues, SessionUpdate, TurnInFlight } from "../state.ts";
import { draftOf } from "../turn-draft.ts";
import { messagesInFlight, requireTurn } from "../turn-messages.ts";
import { clearWindow, extendWindow, openedNoticeId } from "../window.ts";

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
    const cleared = turn.clears ? clearWindow(state.window) : { window: state.window, changes: [] };
    const shown = [...withOpened(state.messages, session.sessionId, messagesInFlight(state, turn)), ...told];
    const { window, changes } = extendWindow(
      cleared.window,
      { turn: record.turn, messages: shown, deliveryId: turn.deliveryId },
      deps.limits,
      turn.clears ? [] : state.messages,
    );
    return {
      session: committed.session,
      turn: null,
      window,
      reply: replyOf(record, false),
      messages: [...cleared.changes, ...changes, ...told.map((message) => wholeReply(message, turn))],
    };
  };
}

/** The messages of a turn, with the notice that says behind the first one why the session began. */
function withOpened(
  messages: readonly BaseMessage[],
  sessionId: string,
  [first, ...rest]: readonly BaseMessage[],
): BaseMessage[] {
  const opened = messages.find(({ id }) => id === openedNoticeId(sessionId));
  return [first, opened, ...rest].filter((message) => message !== undefined);
}

/** A command's reply as pages show it: the whole text, of which the transcript keeps the headline. */
function wholeReply(message: AIMessage, { outcome }: TurnInFlight): AIMessage {
  if (outcome === null) return message;
  return new AIMessage({
    content: replyText(outcome.envelope),
    ...(message.id === undefined ? {} : { id: message.id }),
  });
}
