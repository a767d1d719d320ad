/** Settles what an earlier run left unfinished: a crash, an abort, a limit. */
import { AIMessage, RemoveMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { toInstant } from "#src/kernel/clock.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { contentText, fromLangChain } from "#src/turns/langchain-messages.ts";
import { commitTurn } from "./commit-turn.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import type { CaughtUp } from "./locate-session.ts";
import type { RunContext } from "./run-context.ts";
import type { SessionStateValues, SessionUpdate, TurnInFlight } from "./state.ts";
import { extendWindow, messagesOf } from "./window.ts";

const INTERRUPTED =
  "This turn was interrupted before it was answered; its tools are not run again by themselves.";

/** What is there to settle. */
export interface Unsettled {
  readonly run: RunContext;
  readonly state: SessionStateValues;
  readonly inFlight: readonly BaseMessage[];
  /** The delivery of this run. */
  readonly deliveryId: string;
  readonly caughtUp: CaughtUp;
}

/** The session as it stands once all is settled. */
export interface Settled {
  readonly session: SessionFields;
  readonly messages: BaseMessage[];
  readonly fields: SessionUpdate;
  /** This run's delivery is the one that was in flight, and its model had answered: go on with it. */
  readonly resumed?: TurnInFlight;
}

/**
 * The rule: a turn in flight whose model had answered is never run again. If its delivery comes again it goes on where
 * it was; if another message comes it is committed as it stands, `interrupted` unless the answer was complete. A turn
 * whose model had not answered leaves nothing behind but a line in the explanation log; its delivery may come again.
 */
export async function settle(deps: SessionDeps, unsettled: Unsettled): Promise<Settled> {
  const { state, inFlight, caughtUp, deliveryId } = unsettled;
  const adopted = adopt(deps, state, caughtUp);
  const wasCommitted = state.turn !== null && caughtUp.session.turns >= state.turn.number;
  if (state.turn === null || inFlight.length === 0 || wasCommitted) {
    return {
      session: caughtUp.session,
      messages: [...inFlight.map(remove), ...adopted.messages],
      fields: adopted.fields,
    };
  }
  const hasBegun = inFlight.some((message) => AIMessage.isInstance(message));
  if (state.turn.deliveryId === deliveryId && hasBegun) return resume(state.turn, inFlight, caughtUp.session);
  if (state.turn.deliveryId === deliveryId) {
    return { session: caughtUp.session, messages: inFlight.map(remove), fields: {} };
  }
  return hasBegun ? commitAsItStands(deps, unsettled, state.turn) : drop(deps, unsettled, state.turn);
}

/** Turns of the transcript that the checkpoint had missed come into `messages` and the window. */
function adopt(
  deps: SessionDeps,
  state: SessionStateValues,
  caughtUp: CaughtUp,
): { readonly messages: BaseMessage[]; readonly fields: SessionUpdate } {
  let window = state.window;
  const messages: BaseMessage[] = [];
  for (const record of caughtUp.missed) {
    const added = messagesOf(record);
    const extended = extendWindow(
      window,
      { turn: record.turn, messages: added },
      deps.limits.windowCharacters,
    );
    window = extended.window;
    messages.push(...added, ...extended.removals);
  }
  return caughtUp.missed.length === 0 ? { messages, fields: {} } : { messages, fields: { window } };
}

function resume(turn: TurnInFlight, inFlight: readonly BaseMessage[], session: SessionFields): Settled {
  return {
    session,
    messages: closeOpenCalls(inFlight),
    fields: {},
    resumed: { ...turn, number: session.turns + 1 },
  };
}

/** A stored result for each call that has none, so that the history stays valid and no tool runs again by itself. */
function closeOpenCalls(messages: readonly BaseMessage[]): ToolMessage[] {
  const answered = new Set(
    messages.filter((message) => ToolMessage.isInstance(message)).map((message) => message.tool_call_id),
  );
  return messages
    .filter((message) => AIMessage.isInstance(message))
    .flatMap((message) => message.tool_calls ?? [])
    .filter((call) => call.id !== undefined && !answered.has(call.id))
    .map(
      (call) =>
        new ToolMessage({
          content: "interrupted: the program ended while this tool ran; it may or may not have taken effect",
          tool_call_id: call.id ?? "",
          name: call.name,
          status: "error",
          id: `${call.id}#interrupted`,
        }),
    );
}

async function commitAsItStands(
  deps: SessionDeps,
  unsettled: Unsettled,
  turn: TurnInFlight,
): Promise<Settled> {
  const { run, state, inFlight, caughtUp } = unsettled;
  const closing = closeOpenCalls(inFlight);
  const all = [...inFlight, ...closing];
  const last = inFlight.at(-1);
  const isAnswered = AIMessage.isInstance(last) && closing.length === 0;
  const { record, session } = await commitTurn(deps, run.repository, caughtUp.session, {
    kind: "chat",
    status: isAnswered ? "completed" : "interrupted",
    deliveryId: turn.deliveryId,
    textHash: turn.textHash,
    messages: all.map((message) => fromLangChain(message, turn.startedAt)),
    reply: isAnswered ? {} : { notice: INTERRUPTED },
    explanation: { requestId: turn.requestId, ...(turn.solver === null ? {} : { solver: turn.solver }) },
  });
  const extended = extendWindow(
    state.window,
    { turn: record.turn, messages: all },
    deps.limits.windowCharacters,
  );
  return { session, messages: [...closing, ...extended.removals], fields: { window: extended.window } };
}

async function drop(deps: SessionDeps, unsettled: Unsettled, turn: TurnInFlight): Promise<Settled> {
  const { run, inFlight, caughtUp } = unsettled;
  const text = contentText(inFlight[0]?.content);
  await run.repository.writeFailure(caughtUp.session, {
    sessionId: caughtUp.session.sessionId,
    deliveryId: turn.deliveryId,
    requestId: turn.requestId,
    at: toInstant(deps.clock.now()),
    code: "turn_failed",
    message: "the program ended before the turn was answered",
    node: "admit",
    text,
  });
  return { session: caughtUp.session, messages: inFlight.map(remove), fields: {} };
}

function remove(message: BaseMessage): RemoveMessage {
  return new RemoveMessage({ id: message.id ?? "" });
}
