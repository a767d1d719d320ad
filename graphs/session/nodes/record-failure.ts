/** `recordFailure`: the error handler of every node. No assistant text survives; the failure is told and explained. */
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import type { NodeError } from "@langchain/langgraph";
import { toInstant } from "#src/kernel/clock.ts";
import { envelopeOf, replyText, type Envelope } from "#src/kernel/envelope.ts";
import { isLilyError } from "#src/kernel/errors.ts";
import { unstoredEnvelope, type TurnReply } from "#src/turns/turn-reply.ts";
import type { FailedTurn } from "#src/sessions/repository.ts";
import { contentText } from "#src/turns/langchain-messages.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { failedAttempts } from "../ask-model.ts";
import { dropInFlight, readInFlight } from "../in-flight.ts";
import { standBeside } from "../window.ts";
import { sortMessages } from "../delivery.ts";
import { deliveredId, noticeMessage } from "../messages.ts";
import { type NodeRuntime, readRunContext, stepsOfFailure } from "../run-context.ts";
import type { SessionStateValues, SessionUpdate } from "../state.ts";
import { progressOf } from "./commit.ts";
import { messagesInFlight } from "../turn-messages.ts";

/** Makes the handler. */
export function recordFailure(deps: SessionDeps) {
  return async (whole: unknown, failure: NodeError, runtime?: NodeRuntime): Promise<SessionUpdate> => {
    // Every node of this graph takes the whole state.
    const state = whole as SessionStateValues;
    const unstored = toolsHaveRun(state, failure);
    const envelope = toldEnvelope(envelopeOf(failure.error, "turn_failed"), unstored);
    // In `admit` the message is not a turn yet; what an earlier run left in flight stays for the next run.
    const isAdmit = failure.node === "admit";
    const failed =
      isAdmit || state.turn === null ? sortMessages(state).inbound : messagesInFlight(state, state.turn);
    const first = failed[0];
    const deliveryId = (first && deliveredId(first)) ?? "";
    const isOver = !isAdmit && !unstored;
    const text = contentText(first?.content);
    await explain(deps, { state, failure, envelope, runtime, deliveryId, text, isOver });
    const told = replyText(envelope);
    // What `admit` did not take in may be anything; its text is what a person wrote.
    const message = isAdmit && first !== undefined ? new HumanMessage(text) : first;
    const shown =
      unstored || message === undefined
        ? { messages: [noticeMessage(told, deps.ids.uuid())] }
        : standBeside(deps, state, {
            deliveryId: (isAdmit ? undefined : state.turn?.deliveryId) ?? deliveryId,
            message,
            leaving: failed,
            told,
          });
    return {
      ...(isOver ? { turn: null } : {}),
      reply: failedReply(state, deliveryId, envelope),
      handoff: null,
      ...shown,
    };
  };
}

/**
 * Whether tools have run in the turn: it stays in flight, so that the same delivery goes on from there and no tool runs
 * again; also where the lease was lost, for its new holder may never have seen the turn. One that it did see is committed
 * already, which is what a conflict tells.
 */
function toolsHaveRun({ messages, window, turn }: SessionStateValues, { error }: NodeError): boolean {
  if (turn === null || (isLilyError(error) && error.code === "turn_conflict")) return false;
  return messagesInFlight({ messages, window }, turn).some((message) => ToolMessage.isInstance(message));
}

const KEPT = "What its tools did is kept: send the message again, and it goes on from there.";

function toldEnvelope(envelope: Envelope, unstored: boolean): Envelope {
  if (unstored && envelope.code === "lease_lost") return { ...envelope, next: KEPT };
  if (unstored) return { ...envelope, next: `${envelope.next ?? ""} ${KEPT}`.trim() };
  return unstoredEnvelope(envelope);
}

function failedReply(state: SessionStateValues, deliveryId: string, envelope: Envelope): TurnReply {
  return {
    outcome: "failed",
    sessionId: state.session?.sessionId ?? "",
    deliveryId: state.turn?.deliveryId ?? deliveryId,
    turn: null,
    status: null,
    repeated: false,
    ...(typeof state.turn?.announcement === "string" ? { announcement: state.turn.announcement } : {}),
    envelope,
  };
}

/** Names of the tools that its model asked for. */
function toolsOf({ messages, window, turn }: SessionStateValues): Pick<FailedTurn, "tools"> {
  if (turn === null) return {};
  const asked = messagesInFlight({ messages, window }, turn).filter((message) =>
    AIMessage.isInstance(message),
  );
  const tools = asked.flatMap(({ tool_calls: calls = [] }) => calls.map(({ name }) => name));
  return tools.length === 0 ? {} : { tools };
}

interface Explained {
  readonly state: SessionStateValues;
  readonly failure: NodeError;
  readonly envelope: Envelope;
  readonly runtime: NodeRuntime | undefined;
  readonly deliveryId: string;
  readonly text: string;
  /** Nothing of the turn stays in flight. */
  readonly isOver: boolean;
}

async function explain(deps: SessionDeps, explained: Explained): Promise<void> {
  const { state, failure, envelope, runtime, isOver } = explained;
  const { session, turn } = state;
  if (session === null || runtime === undefined) return;
  try {
    const { repository, store } = readRunContext(deps, runtime);
    const left = isOver ? await readInFlight(store, session) : undefined;
    if (left !== undefined && left.turn.requestId === turn?.requestId) await dropInFlight(store, session);
    await repository.writeFailure(session, {
      sessionId: session.sessionId,
      deliveryId: turn?.deliveryId ?? explained.deliveryId,
      requestId: turn?.requestId ?? deps.ids.uuid(),
      at: toInstant(deps.clock.now()),
      code: envelope.code,
      message: envelope.message,
      node: failure.node,
      text: turn?.text ?? explained.text,
      ...failedAttempts.join(turn?.attempts, failedAttempts.of(failure.error), (turn?.modelCalls ?? 0) + 1),
      ...(turn === null ? {} : progressOf(turn, state.verdict)),
      ...(turn === null ? {} : { steps: stepsOfFailure(turn, failure, deps.clock.now()) }),
      ...toolsOf(state),
    });
  } catch {
    // The store may be what failed. The reply still tells of the failure, and the message is in the sender's hands.
  }
}
