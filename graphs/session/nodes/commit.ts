/** `commit`: makes the turn part of the conversation, by one put of its record. */
import { AIMessage } from "@langchain/core/messages";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { toInstant } from "#src/kernel/clock.ts";
import { deriveUuid } from "#src/kernel/ids.ts";
import type { Chain } from "#src/sessions/chain.ts";
import { textHashOf } from "#src/sessions/seal.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { replyOf } from "#src/turns/stored-reply.ts";
import { commitTurn } from "../commit-turn.ts";
import { promptMemoryOf } from "../prompt-memory.ts";
import { requireTurn } from "../require.ts";
import { readRunContext, type NodeRuntime } from "../run-context.ts";
import type { SessionStateValues, StepUpdate, TurnInFlight } from "../state.ts";
import { draftOf } from "../turn-draft.ts";
import { messagesInFlight } from "../turn-messages.ts";
import { clearWindow, extendWindow } from "../window.ts";

/** Makes the node. */
export function commit(deps: SessionDeps) {
  return async (state: SessionStateValues, runtime: NodeRuntime): Promise<StepUpdate> => {
    const { session, turn } = requireTurn(state);
    const { isReplay, repository } = readRunContext(deps, runtime);
    if (isReplay && (await repository.readStoredTurn(session, turn.number)) !== undefined)
      return answerElsewhere(deps, turn, { session, chain: await repository.readChain(session) });
    const told =
      turn.outcome === null
        ? []
        : [new AIMessage({ content: turn.outcome.envelope.message, id: deps.ids.uuid() })];
    const messages = [...messagesInFlight(state, turn), ...told];
    const at = toInstant(deps.clock.now());
    const draft = draftOf(state, turn, { messages, status: turn.status, at });
    const committed = await commitTurn(deps, repository, session, draft);
    const { record } = committed;
    promptMemoryOf(deps).turns.remember(record);
    const limit = deps.limits.windowCharacters;
    const cleared = turn.clears ? clearWindow(state.window) : { window: state.window, removals: [] };
    const extended = extendWindow(cleared.window, { turn: record.turn, messages }, limit);
    return {
      session: { ...committed.session, toldNoModel: session.toldNoModel || turn.notice !== null },
      units: [...(turn.clears ? [] : state.units), ...turn.stagedUnits],
      turn: null,
      window: extended.window,
      reply: replyOf(record, false),
      messages: [...told, ...cleared.removals, ...extended.removals],
    };
  };
}

/**
 * The run began at an old checkpoint in the middle of a turn that was committed since. It is never committed twice: its
 * message is answered in a session that continues what was before it, under an id of its own; in the latest one where this
 * session was ended.
 */
function answerElsewhere(
  deps: SessionDeps,
  turn: TurnInFlight,
  { session, chain }: { readonly session: SessionFields; readonly chain: Chain | undefined },
): StepUpdate {
  const deliveryId = deriveUuid("replayed", turn.deliveryId, deps.ids.uuid());
  const again = {
    ...turn,
    deliveryId,
    textHash: textHashOf(turn.text, turn.attachments),
    collected: undefined,
  };
  if (chain !== undefined && chain.latest !== session.sessionId)
    return { turn: { ...again, latest: chain.latest }, messages: [] };
  return {
    turn: again,
    messages: [],
    verdict: { action: "rotate", trigger: "replay", turns: session.turns },
  };
}
