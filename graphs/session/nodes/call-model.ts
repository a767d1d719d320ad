/** `callModel`: one call of the reply model, streamed, within the budget of the turn. */
import { AIMessage, type AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { Runnable } from "@langchain/core/runnables";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { LilyError } from "#src/kernel/errors.ts";
import type { ChatModelOptions } from "#src/models/chat-model.ts";
import { cutNotice, cutOf } from "#src/models/final-message.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import type { Cut, ReachedLimit } from "#src/sessions/turn-record.ts";
import { contentText } from "#src/turns/langchain-messages.ts";
import { toModelInput } from "#src/turns/model-input.ts";
import { askFirstThatAnswers, type Answer, type CallRuntime } from "../ask-model.ts";
import { judgeBudget, noAnswerText, spend, spentOf, type BudgetVerdict } from "../budget.ts";
import { guardCall, type CallGuard } from "../call-guard.ts";
import { tokensOfCall } from "../call-tokens.ts";
import { failedAttempts } from "../failed-attempts.ts";
import { putInFlight, requireInFlight } from "../in-flight.ts";
import { renderPrompt } from "../prompt.ts";
import { readRunContext, type RunContext } from "../run-context.ts";
import { memoryOwner } from "../run-memory.ts";
import type { SessionStateValues, SessionUpdate, TurnInFlight } from "../state.ts";
import { sourcesOf, symbolicModel } from "../symbolic-model.ts";
import { sessionTools } from "../tools.ts";
import { asksForTools, messagesInFlight, modelMessagesInFlight, requireTurn } from "../turn-messages.ts";

/** The reference of what answers where no model is configured. */
const SYMBOLIC = "symbolic";

/** Makes the node. */
export function callModel(deps: SessionDeps) {
  return async (state: SessionStateValues, runtime: CallRuntime): Promise<SessionUpdate> => {
    const { session, turn } = requireTurn(state);
    const run = readRunContext(deps, runtime);
    if (run.isFork) await requireInFlight(run, session, turn);
    const verdict = judgeBudget("model", spentOf(turn), deps.limits);
    if (verdict.action === "end") return endedTurn(deps, turn, verdict.limit);
    const guard = guardCall(deps, {
      sessionId: session.sessionId,
      runSignal: runtime.signal,
      spentMs: spentOf(turn).ms,
    });
    try {
      const mayCallTools = verdict.action === "go" && turn.limit === undefined;
      const answer = await ask(deps, run, { state, runtime, guard, mayCallTools });
      const tokens = tokensOfCall(turn, messagesInFlight(state, turn).slice(1), answer.message);
      const spent = spend(turn, { modelCalls: 1, tokens, ms: guard.spentMs() });
      return answeredTurn(deps, { ...turn, ...spent }, { answer, verdict });
    } finally {
      guard.close();
    }
  };
}

/** A turn whose budget leaves no call is committed with what there is. */
function endedTurn(deps: SessionDeps, turn: TurnInFlight, limit: ReachedLimit): SessionUpdate {
  return {
    messages: [new AIMessage({ content: noAnswerText(limit), id: deps.ids.uuid() })],
    turn: { ...turn, status: "limited", limit },
  };
}

interface Asked {
  readonly state: SessionStateValues;
  readonly runtime: CallRuntime;
  readonly guard: CallGuard;
  readonly mayCallTools: boolean;
}

async function ask(
  deps: SessionDeps,
  run: RunContext,
  { state, runtime, guard, mayCallTools }: Asked,
): Promise<Answer> {
  const { session, turn } = requireTurn(state);
  if (turn.receipt === null) throw new LilyError("internal", "a model was asked without a context");
  const prompt = await renderPrompt(deps, run, { session, receipt: turn.receipt });
  const inFlight = modelMessagesInFlight(state, turn);
  const attached = { blobs: run.blobs, owner: session.owner };
  const messages = await toModelInput([...prompt.messages, ...inFlight], attached);
  const solver = turn.solver ?? SYMBOLIC;
  const fallbacks = deps.fallbackModels(session.activeAgent).filter((reference) => reference !== solver);
  return askFirstThatAnswers(deps, [solver, ...fallbacks], {
    async open(reference) {
      if (reference === SYMBOLIC) return symbolicModel(deps, run, { session, turn, prompt });
      const model = await deps.models.chatModel(reference, modelOptions(session.modelConfig));
      return mayCallTools && deps.offersTools(session.activeAgent) ? withTools(deps, session, model) : model;
    },
    messages,
    runtime,
    guard,
    // The next run settles it: what was written is committed, as after a stop.
    onCancelled: async (partial) => {
      if (contentText(partial.content).trim() === "") return;
      const stopped = { ...turn, status: "stopped" as const };
      const begun = [...messagesInFlight(state, turn), partial];
      await putInFlight(run.store, session, {
        sessionId: session.sessionId,
        turn: stopped,
        messages: begun,
        call: null,
      }).catch(() => undefined);
    },
  });
}

/** @param turn with what the call has used */
function answeredTurn(
  deps: SessionDeps,
  turn: TurnInFlight,
  { answer, verdict }: { readonly answer: Answer; readonly verdict: BudgetVerdict },
): SessionUpdate {
  const limit = limitOf(deps, turn, { answer, verdict });
  const isLimited = limit !== undefined && answer.endedBy !== "stop";
  const cut = asksForTools(answer.message) ? undefined : cutOf(answer.message);
  const sources = sourcesOf(answer.message);
  return {
    messages: [isLimited ? lastMessage(answer, limit) : answer.message],
    turn: {
      ...turn,
      ...failedAttempts.join(turn.attempts, answer.attempts),
      ...(limit === undefined ? {} : { limit }),
      ...(cut === undefined ? {} : { cut }),
      notice: noticeOf(deps, turn, { answer, cut }),
      ...(sources.length === 0 ? {} : { sources }),
      // For this turn only: the session's own choice stays as it is.
      solver: answer.model,
      status:
        answer.endedBy === "stop" ? "stopped" : isLimited || cut !== undefined ? "limited" : turn.status,
    },
  };
}

/** What is said before the answer: what its model does not take, the first time, and why the answer was cut. */
function noticeOf(
  { models }: SessionDeps,
  { notice }: TurnInFlight,
  { answer, cut }: { readonly answer: Answer; readonly cut: Cut | undefined },
): string | null {
  const leftOut = answer.model === "symbolic" ? [] : (models.takeNotices?.(answer.model) ?? []);
  const said = [notice ?? "", ...leftOut, cut === undefined ? "" : cutNotice(cut)].filter(
    (text) => text !== "",
  );
  return said.length === 0 ? null : said.join("\n");
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

function modelOptions(chosen: SessionFields["modelConfig"]): ChatModelOptions {
  const { temperature, reasoning, verbosity } = chosen;
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(reasoning === undefined ? {} : { reasoningEffort: reasoning }),
    ...(verbosity === undefined ? {} : { verbosity }),
  };
}

/** The model with the tools that it is offered. */
function withTools(
  deps: SessionDeps,
  session: SessionFields,
  model: BaseChatModel,
): Runnable<BaseMessage[], AIMessageChunk> {
  const offers = {
    memory: deps.memory?.tool === true && memoryOwner(deps, session) !== undefined,
    skills: session.skillSnapshot.skills.length > 0,
  };
  return model.bindTools?.(sessionTools(deps.tools ?? [], undefined, offers)) ?? model;
}
