/** Settles what an earlier run left unfinished: a crash, an abort, a limit. */
import { AIMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { toInstant } from "#src/kernel/clock.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { contentText } from "#src/turns/langchain-messages.ts";
import { commitTurn } from "./commit-turn.ts";
import { deliveryConflict, findAnswer } from "#src/turns/stored-reply.ts";
import type { CaughtUp } from "./locate-session.ts";
import type { RunContext } from "./run-context.ts";
import { removalOf } from "./messages.ts";
import type { SessionStateValues, SessionUpdate, TurnInFlight } from "./state.ts";
import { draftOf } from "./turn-draft.ts";
import { asksForTools } from "./turn-messages.ts";
import { extendWindow, messagesOf } from "./window.ts";

const INTERRUPTED =
  "This turn was interrupted before it was answered; its tools are not run again by themselves.";

/** What is there to settle. */
export interface Unsettled {
  readonly run: RunContext;
  readonly state: SessionStateValues;
  readonly inFlight: readonly BaseMessage[];
  /** The delivery of this run, and the hash of what it says. */
  readonly deliveryId: string;
  readonly textHash: string;
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
  const { state, inFlight, run } = unsettled;
  const adopted = adopt(deps, state, unsettled.caughtUp);
  const { turn } = state;
  // In an old checkpoint it is a turn of the past, which was settled then.
  if (run.isReplay) return { ...adopted, messages: inFlight.map(removalOf) };
  if (turn === null || inFlight.length === 0 || (await isCommitted(unsettled, turn))) {
    return { ...adopted, messages: [...inFlight.map(removalOf), ...adopted.messages] };
  }
  assertSameText(unsettled, turn);
  const hasBegun = inFlight.some((message) => AIMessage.isInstance(message));
  const again = deliveredAgain(unsettled, turn);
  if (hasBegun && again !== "nothing") return resume(adopted, turn, inFlight);
  if (hasBegun) return commitAsItStands(deps, unsettled, { turn, adopted });
  if (again !== "all") await explainLoss(deps, unsettled, turn);
  return { ...adopted, messages: [...inFlight.map(removalOf), ...adopted.messages] };
}

/** How much of what the turn in flight was to answer came again. Whoever sent more with it looks at what was answered. */
function deliveredAgain({ run, deliveryId }: Unsettled, turn: TurnInFlight): "all" | "some" | "nothing" {
  const arrived = new Set([deliveryId, ...idsOf(run.collected?.others)]);
  const wanted = [turn.deliveryId, ...idsOf(turn.collected)];
  if (wanted.every((id) => arrived.has(id))) return "all";
  return wanted.some((id) => arrived.has(id)) ? "some" : "nothing";
}

/** @throws {LilyError} `delivery_conflict` when an id in flight came again with another text */
function assertSameText({ run, deliveryId, textHash }: Unsettled, turn: TurnInFlight): void {
  const inFlight = new Map([turn, ...(turn.collected ?? [])].map((one) => [one.deliveryId, one.textHash]));
  const arrived = [{ deliveryId, textHash }, ...(run.collected?.others ?? [])];
  const other = arrived.find((one) => (inFlight.get(one.deliveryId) ?? one.textHash) !== one.textHash);
  if (other !== undefined) throw deliveryConflict(other.deliveryId);
}

function idsOf(deliveries: TurnInFlight["collected"]): string[] {
  return (deliveries ?? []).map((delivery) => delivery.deliveryId);
}

/** The delivery in flight was answered, and only the checkpoint after it is missing; under whatever number it was. */
async function isCommitted({ run, caughtUp }: Unsettled, turn: TurnInFlight): Promise<boolean> {
  return (await findAnswer(run.repository, caughtUp.session, turn.deliveryId)) !== undefined;
}

/** Turns of the transcript that the checkpoint had missed come into `messages` and the window. */
function adopt(deps: SessionDeps, state: SessionStateValues, caughtUp: CaughtUp): Settled {
  let window = state.window;
  const messages: BaseMessage[] = [];
  for (const record of caughtUp.missed) {
    const added = messagesOf(record);
    const turn = { turn: record.turn, messages: added };
    const extended = extendWindow(window, turn, deps.limits.windowCharacters);
    window = extended.window;
    messages.push(...added, ...extended.removals);
  }
  return { session: caughtUp.session, messages, fields: caughtUp.missed.length === 0 ? {} : { window } };
}

function resume(adopted: Settled, turn: TurnInFlight, inFlight: readonly BaseMessage[]): Settled {
  const resumed = { ...turn, number: adopted.session.turns + 1 };
  return { ...adopted, messages: [...adopted.messages, ...closeOpenCalls(inFlight)], resumed };
}

/** A stored result for each call that has none, so that the history stays valid and no tool runs again by itself. */
function closeOpenCalls(messages: readonly BaseMessage[]): ToolMessage[] {
  const results = messages.filter((message) => ToolMessage.isInstance(message));
  const answered = new Set(results.map((message) => message.tool_call_id));
  return messages
    .filter((message) => AIMessage.isInstance(message))
    .flatMap((message) => [...(message.tool_calls ?? []), ...(message.invalid_tool_calls ?? [])])
    .filter((call) => call.id !== undefined && !answered.has(call.id))
    .map(
      (call) =>
        new ToolMessage({
          content:
            "interrupted: this call was not finished, or not approved; it may or may not have taken effect",
          tool_call_id: call.id ?? "",
          name: call.name ?? "unknown",
          status: "error",
          id: `${call.id}#interrupted`,
        }),
    );
}

/** The activity clock stays where the turn was: what a crash left does not keep a session young. */
async function commitAsItStands(
  deps: SessionDeps,
  { run, state, inFlight, caughtUp }: Unsettled,
  { turn, adopted }: { readonly turn: TurnInFlight; readonly adopted: Settled },
): Promise<Settled> {
  const closing = closeOpenCalls(inFlight);
  const messages = [...inFlight, ...closing];
  const last = inFlight.at(-1);
  const isAnswered = AIMessage.isInstance(last) && !asksForTools(last);
  const draft = draftOf(state, turn, {
    messages,
    status: isAnswered ? turn.status : "interrupted",
    at: turn.startedAt,
    ...(isAnswered ? {} : { notice: INTERRUPTED }),
  });
  const { record, session } = await commitTurn(deps, run.repository, caughtUp.session, draft);
  const window = adopted.fields.window ?? state.window;
  const extended = extendWindow(window, { turn: record.turn, messages }, deps.limits.windowCharacters);
  return {
    session,
    messages: [...adopted.messages, ...closing, ...extended.removals],
    fields: { window: extended.window },
  };
}

async function explainLoss(deps: SessionDeps, unsettled: Unsettled, turn: TurnInFlight): Promise<void> {
  const { run, inFlight, caughtUp } = unsettled;
  await run.repository.writeFailure(caughtUp.session, {
    sessionId: caughtUp.session.sessionId,
    deliveryId: turn.deliveryId,
    requestId: turn.requestId,
    at: toInstant(deps.clock.now()),
    code: "turn_failed",
    message: "the program ended before the turn was answered",
    node: "admit",
    text: contentText(inFlight[0]?.content),
  });
}
