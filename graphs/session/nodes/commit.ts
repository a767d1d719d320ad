/** `commit`: makes the turn part of the conversation, by one put of its record. */
import { AIMessage } from "@langchain/core/messages";
import { toInstant } from "#src/kernel/clock.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { retitleLatest } from "#src/sessions/chain.ts";
import type { Message } from "#src/sessions/message.ts";
import type { SessionRepository } from "#src/sessions/repository.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import type { Explanation } from "#src/sessions/turn-record.ts";
import { fromLangChain } from "#src/turns/langchain-messages.ts";
import { commitTurn, type TurnDraft } from "../commit-turn.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { replyOf } from "../handled.ts";
import { requireTurn } from "../require.ts";
import { readRunContext, type NodeRuntime } from "../run-context.ts";
import type { SessionStateValues, SessionUpdate, TurnInFlight } from "../state.ts";
import { messagesInFlight } from "../turn-messages.ts";
import { extendWindow } from "../window.ts";

/** Makes the node. */
export function commit(deps: SessionDeps) {
  return async (state: SessionStateValues, runtime: NodeRuntime): Promise<SessionUpdate> => {
    const { session, turn } = requireTurn(state);
    const { repository } = readRunContext(deps, runtime);
    const changes = turn.outcome?.changes;
    const told = turn.outcome === null ? [] : [outcomeMessage(deps, turn.outcome.envelope.message)];
    const messages = [...messagesInFlight(state, turn), ...told];
    if (changes?.title !== undefined) await retitle(repository, session, changes.title);
    const draft = draftOf(state, turn, transcriptOf(messages, turn, toInstant(deps.clock.now())));
    const committed = await commitTurn(deps, repository, session, draft);
    const { record } = committed;
    const extended = extendWindow(
      state.window,
      { turn: record.turn, messages },
      deps.limits.windowCharacters,
    );
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

/** What a command came to, as a message of the conversation. */
function outcomeMessage(deps: SessionDeps, text: string): AIMessage {
  return new AIMessage({ content: text, id: deps.ids.uuid() });
}

/** The title stands in the chain; putting it twice changes nothing, so it is written before the turn. */
async function retitle(repository: SessionRepository, session: SessionFields, title: string): Promise<void> {
  const chain = await repository.readChain(session);
  if (chain?.latest !== session.sessionId)
    throw new LilyError("turn_conflict", "the conversation has moved on");
  await repository.writeChain(retitleLatest(chain, title));
}

/** The turn's messages as the transcript keeps them: the user's text is what was answered. */
function transcriptOf(
  messages: readonly Parameters<typeof fromLangChain>[0][],
  turn: TurnInFlight,
  now: string,
): Message[] {
  return messages.map((message, index) =>
    index === 0
      ? { ...fromLangChain(message, turn.startedAt), content: turn.text }
      : fromLangChain(message, now),
  );
}

function draftOf(state: SessionStateValues, turn: TurnInFlight, messages: Message[]): TurnDraft {
  const explanation: Explanation = {
    requestId: turn.requestId,
    ...(state.verdict === null ? {} : { verdict: state.verdict }),
    ...(turn.solver === null ? {} : { solver: turn.solver }),
    ...(turn.receipt === null ? {} : { receipt: turn.receipt }),
    ...(turn.recalled.length === 0 ? {} : { recalled: turn.recalled }),
  };
  return {
    kind: turn.outcome === null ? "chat" : "command",
    status: turn.status,
    deliveryId: turn.deliveryId,
    textHash: turn.textHash,
    messages,
    ...(turn.stagedUnits.length === 0 ? {} : { units: turn.stagedUnits }),
    ...(turn.outcome?.changes === undefined ? {} : { changes: turn.outcome.changes }),
    reply: {
      ...(turn.announcement === null ? {} : { announcement: turn.announcement }),
      ...(turn.notice === null ? {} : { notice: turn.notice }),
      ...(turn.outcome === null ? {} : { envelope: turn.outcome.envelope }),
    },
    explanation,
  };
}
