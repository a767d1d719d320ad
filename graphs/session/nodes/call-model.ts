/** `callModel`: one call of the reply model, streamed, within the budget of the turn. */
import { AIMessage, type AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { Runnable } from "@langchain/core/runnables";
import type { Repairs } from "#src/context/repair-messages.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import type { ReachedLimit } from "#src/sessions/turn-record.ts";
import { toModelInput } from "#src/turns/model-input.ts";
import { contentText } from "#src/turns/langchain-messages.ts";
import { askFirstThatAnswers, type Answer, type CallRuntime } from "../ask-model.ts";
import { judgeBudget, noAnswerText, spend, spentOf, type BudgetVerdict } from "../budget.ts";
import { guardCall, type CallGuard } from "../call-guard.ts";
import { failedAttempts } from "../failed-attempts.ts";
import { assemblePrompt } from "../prompt.ts";
import { requireTurn } from "../require.ts";
import { readRunContext } from "../run-context.ts";
import type { SessionStateValues, TurnInFlight } from "../state.ts";
import type { Solved } from "../turn-draft.ts";
import { sessionTools } from "../tools.ts";
import { messagesInFlight, modelMessagesInFlight } from "../turn-messages.ts";
import { tokensOfCall } from "../call-tokens.ts";

/** Makes the call; `runSignal` ends it with its run. */
export function callModel(deps: SessionDeps) {
  const offered = new WeakMap<BaseChatModel, Runnable<BaseMessage[], AIMessageChunk>>();
  /** The model with the tools that it is offered: described to it once, not for each call. */
  const offer: OfferTools = (model) => {
    const known = offered.get(model) ?? bindTools(deps, model);
    offered.set(model, known);
    return known;
  };
  return async (state: SessionStateValues, runtime: CallRuntime, runSignal: AbortSignal): Promise<Solved> => {
    const { session, turn } = requireTurn(state);
    const verdict = judgeBudget("model", spentOf(turn), deps.limits);
    if (verdict.action === "end") return endedTurn(deps, turn, verdict.limit);
    const guard = guardCall(deps, {
      sessionId: session.sessionId,
      runSignal,
      spentMs: spentOf(turn).ms,
    });
    try {
      const mayCallTools = verdict.action === "go" && turn.limit === undefined;
      const answer = await ask(deps, { state, runtime, guard, ...(mayCallTools ? { offer } : {}) });
      const tokens = tokensOfCall(turn, messagesInFlight(state, turn).slice(1), answer.message);
      const spent = spend(turn, { modelCalls: 1, tokens, ms: guard.spentMs() });
      const told = withRepairs(turn, answer.repairs);
      return answeredTurn(deps, { ...turn, ...spent, ...told }, { answer, verdict });
    } finally {
      guard.close();
    }
  };
}

/** A turn whose budget leaves no call is committed with what there is. */
function endedTurn(deps: SessionDeps, turn: TurnInFlight, limit: ReachedLimit): Solved {
  return {
    messages: [new AIMessage({ content: noAnswerText(limit), id: deps.ids.uuid() })],
    turn: { ...turn, status: "limited", limit },
  };
}

interface Asked {
  readonly state: SessionStateValues;
  readonly runtime: CallRuntime;
  readonly guard: CallGuard;
  /** Absent where the model may call no tools. */
  readonly offer?: OfferTools;
}

type OfferTools = (model: BaseChatModel) => Runnable<BaseMessage[], AIMessageChunk>;

async function ask(
  deps: SessionDeps,
  { state, runtime, guard, offer }: Asked,
): Promise<Answer & { readonly repairs: Repairs }> {
  const { session, turn } = requireTurn(state);
  const run = readRunContext(deps, runtime);
  const { prompt, sound } = await assemblePrompt(deps, run, { session, turn });
  const inFlight = modelMessagesInFlight(state, turn);
  const attached = { blobs: run.blobs, owner: session.owner };
  const lookedAt = sound === undefined ? [...prompt, ...inFlight] : inFlight;
  const { messages, repairs } = await toModelInput(lookedAt, attached, sound);
  const solver = turn.solver ?? "";
  const fallbacks = deps.fallbackModels(session.activeAgent).filter((reference) => reference !== solver);
  const answer = await askFirstThatAnswers(deps, [solver, ...fallbacks], {
    open: async (reference) => {
      const model = await deps.models.chatModel(reference, modelOptions(session.modelConfig.temperature));
      return offer === undefined ? model : offer(model);
    },
    messages,
    runtime,
    guard,
  });
  return { ...answer, repairs };
}

/** The receipt tells what was repaired in the copy that was sent last. */
function withRepairs({ receipt }: TurnInFlight, repairs: Repairs): Pick<TurnInFlight, "receipt"> {
  if (receipt === null || Object.keys(repairs).length === 0) return { receipt };
  return { receipt: { ...receipt, repairs: Object.fromEntries(Object.entries(repairs)) } };
}

/** @param turn with what the call has used */
function answeredTurn(
  deps: SessionDeps,
  turn: TurnInFlight,
  { answer, verdict }: { readonly answer: Answer; readonly verdict: BudgetVerdict },
): Solved {
  const limit = limitOf(deps, turn, { answer, verdict });
  const isLimited = limit !== undefined && answer.endedBy !== "stop";
  return {
    messages: [isLimited ? lastMessage(answer, limit) : answer.message],
    turn: {
      ...turn,
      ...failedAttempts.join(turn.attempts, answer.attempts),
      ...(limit === undefined ? {} : { limit }),
      // For this turn only: the session's own choice stays as it is.
      solver: answer.model,
      status: answer.endedBy === "stop" ? "stopped" : isLimited ? "limited" : turn.status,
    },
  };
}

/** The limit that ends the turn with this answer. A turn whose only call it is was not held back by it. */
function limitOf(
  deps: SessionDeps,
  turn: TurnInFlight,
  { answer, verdict }: { readonly answer: Answer; readonly verdict: BudgetVerdict },
): ReachedLimit | undefined {
  const { turnMs } = deps.limits;
  if (answer.endedBy === "time")
    return { kind: "time", used: Math.max(turnMs, spentOf(turn).ms), limit: turnMs };
  if (turn.limit !== undefined) return turn.limit;
  return verdict.action === "answer" && turn.modelCalls > 1 ? verdict.limit : undefined;
}

/** Calls of tools that it was not offered, or had no time for, are dropped; an answer is never empty. */
function lastMessage({ message }: Answer, limit: ReachedLimit): AIMessage {
  const text = contentText(message.content);
  return new AIMessage({
    content: text.trim() === "" ? noAnswerText(limit) : message.content,
    ...(message.id === undefined ? {} : { id: message.id }),
    ...(message.usage_metadata === undefined ? {} : { usage_metadata: message.usage_metadata }),
    response_metadata: message.response_metadata,
  });
}

function modelOptions(temperature: number | undefined): { temperature?: number } {
  return temperature === undefined ? {} : { temperature };
}

function bindTools(
  { tools = [], memory }: SessionDeps,
  model: BaseChatModel,
): Runnable<BaseMessage[], AIMessageChunk> {
  return model.bindTools?.(sessionTools(tools, undefined, memory?.enabled === true && memory.tool)) ?? model;
}
