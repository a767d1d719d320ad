/** `recordFailure`: the error handler of every node. No assistant text survives; the failure is told and explained. */
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import type { NodeError } from "@langchain/langgraph";
import { toInstant } from "#src/kernel/clock.ts";
import { envelopeOf, replyText, type Envelope } from "#src/kernel/envelope.ts";
import { isLilyError } from "#src/kernel/errors.ts";
import { defined } from "#src/kernel/json.ts";
import { refusal, unstoredEnvelope } from "#src/turns/turn-reply.ts";
import { contentText } from "#src/turns/langchain-messages.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { failedAttempts } from "../ask-model.ts";
import { dropInFlight, readInFlight } from "../in-flight.ts";
import { standBeside } from "../window.ts";
import { sortMessages } from "../delivery.ts";
import { deliveredId, noticeMessage } from "../messages.ts";
import { type NodeRuntime, readRunContext, stepsOfFailure } from "../run-context.ts";
import type { SessionStateValues, SessionUpdate, TurnInFlight } from "../state.ts";
import { progressOf } from "./commit.ts";
import { messagesInFlight } from "../turn-messages.ts";

/** Makes the handler. */
export function recordFailure(deps: SessionDeps) {
  return async (whole: unknown, failure: NodeError, runtime?: NodeRuntime): Promise<SessionUpdate> => {
    // Every node of this graph takes the whole state.
    const state = whole as SessionStateValues;
    // In `admit` the message is not a turn yet; what an earlier run left in flight stays for the next run.
    const isAdmit = failure.node === "admit";
    const turn = isAdmit ? null : state.turn;
    const failed = turn === null ? sortMessages(state).inbound : messagesInFlight(state, turn);
    const keeps = haveToolsRun(state, failure);
    const envelope = toldEnvelope(envelopeOf(failure.error, "turn_failed"), keeps);
    const [first] = failed;
    const deliveryId = turn?.deliveryId ?? (first && deliveredId(first)) ?? "";
    const text = turn?.text ?? contentText(first?.content);
    const isOver = !isAdmit && !keeps;
    await explain(deps, { state, turn, failure, envelope, runtime, deliveryId, text, isOver });
    const told = replyText(envelope);
    // What `admit` did not take in may be anything; its text is what a person wrote.
    const message = isAdmit && first !== undefined ? new HumanMessage(text) : first;
    const { announcement } = turn ?? {};
    return {
      ...(isOver ? { turn: null } : {}),
      reply: {
        ...refusal(envelope, { sessionId: state.session?.sessionId ?? "", deliveryId }),
        outcome: "failed",
        ...defined({ announcement: announcement ?? undefined }),
      },
      handoff: null,
      ...(keeps || message === undefined
        ? { messages: [noticeMessage(told, deps.ids.uuid())] }
        : standBeside(deps, state, { deliveryId, message, leaving: failed, told })),
    };
  };
}

/**
 * Whether tools have run in the turn: it stays in flight, so that the same delivery goes on from there and no tool runs
 * again; also where the lease was lost, for its new holder may never have seen the turn. One that it did see is committed
 * already, which is what a conflict tells.
 */
function haveToolsRun(state: SessionStateValues, { error }: NodeError): boolean {
  const { turn } = state;
  if (turn === null || (isLilyError(error) && error.code === "turn_conflict")) return false;
  return messagesInFlight(state, turn).some((message) => ToolMessage.isInstance(message));
}

const KEPT = "What its tools did is kept: send the message again, and it goes on from there.";

function toldEnvelope(envelope: Envelope, keeps: boolean): Envelope {
  if (keeps && envelope.code === "lease_lost") return { ...envelope, next: KEPT };
  if (keeps) return { ...envelope, next: `${envelope.next ?? ""} ${KEPT}`.trim() };
  return unstoredEnvelope(envelope);
}

interface Explained {
  readonly state: SessionStateValues;
  /** The turn that failed. */
  readonly turn: TurnInFlight | null;
  readonly failure: NodeError;
  readonly envelope: Envelope;
  readonly runtime: NodeRuntime | undefined;
  readonly deliveryId: string;
  readonly text: string;
  /** Nothing of the turn stays in flight. */
  readonly isOver: boolean;
}

async function explain(deps: SessionDeps, explained: Explained): Promise<void> {
  const { state, turn, failure, envelope, runtime, deliveryId, text, isOver } = explained;
  const { session } = state;
  const { code, message } = envelope;
  if (session === null || runtime === undefined) return;
  const asked = turn === null ? [] : messagesInFlight(state, turn);
  const tools = asked.flatMap((one) =>
    AIMessage.isInstance(one) ? (one.tool_calls ?? []).map(({ name }) => name) : [],
  );
  try {
    const { repository, store } = readRunContext(deps, runtime);
    const left = isOver ? await readInFlight(store, session) : undefined;
    if (left !== undefined && left.turn.requestId === turn?.requestId) await dropInFlight(store, session);
    await repository.writeFailure(session, {
      sessionId: session.sessionId,
      deliveryId,
      requestId: turn?.requestId ?? deps.ids.uuid(),
      at: toInstant(deps.clock.now()),
      code,
      message,
      node: failure.node,
      text,
      ...failedAttempts.join(turn?.attempts, failedAttempts.of(failure.error), (turn?.modelCalls ?? 0) + 1),
      ...(turn === null ? {} : progressOf(turn, state.verdict)),
      ...(turn === null ? {} : { steps: stepsOfFailure(turn, failure, deps.clock.now()) }),
      ...(tools.length === 0 ? {} : { tools }),
    });
  } catch {
    // The store may be what failed. The reply still tells of the failure, and the message is in the sender's hands.
  }
}
