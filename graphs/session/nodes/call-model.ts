/** `callModel`: one call of the reply model, streamed, within the budget of the turn. */
import { AIMessage, type AIMessageChunk, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { Runnable } from "@langchain/core/runnables";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { defined } from "#src/kernel/json.ts";
import { joined } from "#src/kernel/markdown.ts";
import type { ChatModelOptions } from "#src/models/chat-model.ts";
import { cutNotice, cutOf } from "#src/models/final-message.ts";
import { fallbackText } from "#src/preparation/plugins.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { tokensIn, withCall } from "#src/sessions/call-receipt.ts";
import type { ControlCall, ReachedLimit } from "#src/sessions/turn-record.ts";
import { contentText, fromLangChain, toModelInput } from "#src/turns/langchain-messages.ts";
import {
  type Answer,
  askFirstThatAnswers,
  type CallRuntime,
  type CallTokens,
  failedAttempts,
  tokensOfCall,
} from "../ask-model.ts";
import {
  type BudgetVerdict,
  type CallGuard,
  guardCall,
  judgeBudget,
  noAnswerText,
  spend,
  spentOf,
} from "../budget.ts";
import { planSummarised, type SummarisedCall } from "../summaries.ts";
import { extractUnits, solverOfAnswer, sourcesOf, symbolicModel } from "../turn-plugins.ts";
import { putInFlight, requireInFlight } from "../in-flight.ts";
import { NO_TOOLS, offeredTools, type OfferedTools } from "../tools.ts";
import { budgetFor, type CallToPlan, olderTurnsOf } from "../plan-call.ts";
import { mannerOf, modelOf } from "../policy-of.ts";
import { withControlCalls } from "../prepare-turn.ts";
import { hashesOf, notedIn, readSources, renderPrompt } from "../prompt.ts";
import { readRunContext, type RunContext, stepsLeft } from "../run-context.ts";
import { scanWith } from "../run-memory.ts";
import type { SessionStateValues, SessionUpdate, TurnInFlight } from "../state.ts";
import { storedSummary } from "../summaries.ts";
import {
  asksForTools,
  messagesInFlight,
  requireTurn,
  userMessage,
  withoutSecrets,
} from "../turn-messages.ts";

/** The reference of what answers where no model is configured. */
const SYMBOLIC = "symbolic";

/** Makes the node. */
export function callModel(deps: SessionDeps) {
  const toolsFor = offeredTools(deps);
  return async (state: SessionStateValues, runtime: CallRuntime): Promise<SessionUpdate> => {
    const { session, turn } = requireTurn(state);
    const run = readRunContext(deps, runtime);
    if (run.isFork) await requireInFlight(run, session, turn);
    const verdict = judgeBudget(
      "model",
      { ...spentOf(turn), steps: stepsLeft(runtime, turn.firstStep) },
      deps.limits,
    );
    if (verdict.action === "end") return endedTurn(deps, turn, verdict.limit);
    const guard = guardCall(deps, {
      sessionId: session.sessionId,
      runSignal: runtime.signal,
      spentMs: spentOf(turn).ms,
    });
    const over = new AbortController();
    try {
      const mayCallTools = verdict.action === "go" && turn.limit === undefined;
      const tools = mayCallTools ? await toolsFor(session, run.blobs) : NO_TOOLS;
      const extraction = extractUnits(deps, {
        session,
        turn,
        signal: AbortSignal.any([guard.signal, over.signal]),
      });
      const summaries: ControlCall[] = [];
      const answer = await ask(deps, run, { state, runtime, guard, tools, summaries });
      const { tokens: taken, controlCalls, ...units } = await extraction;
      const estimated = tokensIn(answer.receipt);
      const { total, ...usage } = tokensOfCall(estimated, answer.message);
      if (usage.counted !== undefined)
        deps.windows.count(answer.model, { estimated, counted: usage.counted });
      const spent = spend(turn, { modelCalls: 1, tokens: total + taken, ms: guard.spentMs() });
      const given = afterCall(turn, answer, { sessionId: session.sessionId, usage });
      await withoutSecrets(answer.message, scanWith(deps));
      const asked = withControlCalls(turn, [...summaries, ...controlCalls]);
      return answeredTurn(deps, { ...turn, ...spent, ...given, ...units, ...asked }, { answer, verdict });
    } finally {
      over.abort();
      guard.close();
    }
  };
}

/** Adds the call's receipt to those of the turn. */
function afterCall(
  { receipt, calls }: TurnInFlight,
  { model, receipt: call }: Answer,
  { sessionId, usage }: { readonly sessionId: string; readonly usage: Omit<CallTokens, "total"> },
): Partial<TurnInFlight> {
  if (receipt === null) return {};
  const { tokens, turns = [] } = call;
  if (model === SYMBOLIC) return { receipt: { ...receipt, tokens, turns }, plan: call };
  return { plan: call, calls: withCall(calls, { ...call, ...usage }, sessionId) };
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
  readonly tools: OfferedTools;
  /** Takes what a control model was asked for summaries. */
  readonly summaries: ControlCall[];
}

/** What a model thought before a step; none of a result. */
function thoughtBefore(message: BaseMessage): string[] {
  return ToolMessage.isInstance(message) ? [] : [contentText(message.additional_kwargs["reasoning_content"])];
}

async function ask(
  deps: SessionDeps,
  run: RunContext,
  { state, runtime, guard, tools, summaries }: Asked,
): Promise<Answer> {
  const { session, turn } = requireTurn(state);
  if (turn.receipt === null) throw new LilyError("internal", "a model was asked without a context");
  const inFlight = messagesInFlight(state, turn);
  const messages = [userMessage(turn), ...inFlight.slice(1).map((message) => fromLangChain(message, ""))];
  const thoughts = inFlight.slice(1).flatMap(thoughtBefore);
  const { number, receipt } = turn;
  const sources = await readSources(deps, run, {
    session,
    turn: { number, messages, receipt, thoughts, ...notedIn(session, turn) },
  });
  const older = olderTurnsOf(deps, run, { chain: sources.chain, session, turn });
  const solver = turn.solver ?? SYMBOLIC;
  // A person who chose answers without a model gets none from a fallback.
  const isWithout = solver === SYMBOLIC && modelOf(deps, session) !== SYMBOLIC;
  const fallbacks = isWithout
    ? []
    : deps.agents.fallbackModels(session.activeAgent).filter((reference) => reference !== solver);
  return askFirstThatAnswers(deps, [solver, ...fallbacks], {
    async prepare(reference, { isAfterTooLong }) {
      const offered = reference === SYMBOLIC ? NO_TOOLS : tools;
      const call = { sources, model: reference, tools: offered, older, before: turn.plan };
      const asPlanned = isAfterTooLong ? undefined : await plannedFirst(deps, run, { turn, call });
      const { call: plan, summary, asked } = asPlanned ?? (await planSummarised(deps, run, call));
      summaries.push(...asked);
      const prompt = await renderPrompt(deps, run, { sources, call: plan, summary });
      const receipt = {
        ...plan,
        ...hashesOf(prompt),
        ...(isAfterTooLong ? { afterTooLong: true as const } : {}),
      };
      if (reference === SYMBOLIC)
        return { model: symbolicModel(deps, run, { turn, call }), messages: prompt, receipt };
      const model = await deps.models.chatModel(reference, modelOptions(deps, session));
      const attached = { blobs: run.blobs, owner: session.owner };
      return {
        model: withTools(offered, plan.tools ?? 0, model),
        messages: await toModelInput(prompt, attached),
        receipt,
      };
    },
    runtime,
    guard,
    // The next run settles it: what was written is committed, as after a stop.
    onCancelled: async (partial) => {
      if (contentText(partial.content).trim() === "") return;
      const stopped = { ...turn, status: "stopped" as const };
      await putInFlight(run.store, session, {
        sessionId: session.sessionId,
        turn: stopped,
        messages: [...inFlight, partial],
        call: null,
      }).catch(() => undefined);
    },
  });
}

/** The plan that the context was chosen by, where it is for this call and its summary still stands. */
async function plannedFirst(
  deps: SessionDeps,
  run: RunContext,
  { turn, call: { model, sources, tools } }: { readonly turn: TurnInFlight; readonly call: CallToPlan },
): Promise<SummarisedCall | undefined> {
  const { chain, session } = sources;
  const { plan: call } = turn;
  const isFirst = turn.modelCalls === 0 && sources.turn.messages.length === 1;
  if (!isFirst || call?.model !== model || (call.tools ?? 0) > tools.tokens.length) return undefined;
  if (call.budgetTokens !== budgetFor(deps, session.activeAgent, model)) return undefined;
  const nothingNew = { asked: [], notices: [] };
  if (call.summary === undefined) return { call, ...nothingNew };
  const summary = await storedSummary(run, { chain, session, ranges: call.summary });
  return summary && { call, summary, ...nothingNew };
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
  const gs = solverOfAnswer(answer.message);
  // What its model does not take is told the first time.
  const leftOut = answer.model === SYMBOLIC ? [] : (deps.models.takeNotices?.(answer.model) ?? []);
  return {
    messages: [isLimited ? lastMessage(answer, limit) : answer.message],
    turn: {
      ...turn,
      ...failedAttempts.join(turn.attempts, answer.attempts, turn.modelCalls),
      ...defined({ limit, cut, sources: sourcesOf(answer.message) }),
      ...(gs === undefined ? {} : { plugins: { ...turn.plugins, gs } }),
      notice:
        joined([turn.notice ?? "", gs && fallbackText(gs), ...leftOut, cut && cutNotice(cut)], "\n") || null,
      // For this turn only: the session's own choice stays as it is.
      solver: answer.model,
      status:
        answer.endedBy === "stop" ? "stopped" : isLimited || cut !== undefined ? "limited" : turn.status,
    },
  };
}

/** The limit that ends the turn with this answer; none where it was the turn's only call, which no limit held back. */
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
    response_metadata: message.response_metadata,
    ...defined({ id: message.id, usage_metadata: message.usage_metadata }),
  });
}

function modelOptions(deps: SessionDeps, session: SessionFields): ChatModelOptions {
  const { temperature } = session.modelConfig;
  const { reasoning, verbosity } = mannerOf(deps, session);
  return defined({ temperature, reasoningEffort: reasoning, verbosity });
}

/** The model with as many of the tools as have room. */
function withTools(
  { tools }: OfferedTools,
  count: number,
  model: BaseChatModel,
): Runnable<BaseMessage[], AIMessageChunk> {
  return count === 0 ? model : (model.bindTools?.(tools.slice(0, count)) ?? model);
}
