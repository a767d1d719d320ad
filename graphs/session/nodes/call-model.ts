/** `callModel`: one call of the reply model, streamed; a stop keeps what was written so far. */
import { AIMessage, type AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { Runnable, RunnableConfig } from "@langchain/core/runnables";
import type { StructuredToolInterface } from "@langchain/core/tools";
import { concat } from "@langchain/core/utils/stream";
import { LilyError } from "#src/kernel/errors.ts";
import { finalMessage } from "#src/models/final-message.ts";
import { modelFailedError } from "#src/models/model-errors.ts";
import { withRetries } from "#src/models/retry-model.ts";
import { contentText } from "#src/turns/langchain-messages.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { assemblePrompt } from "../prompt.ts";
import { requireTurn } from "../require.ts";
import { readRunContext, type NodeRuntime } from "../run-context.ts";
import type { SessionStateValues, SessionUpdate } from "../state.ts";
import { sessionTools } from "../tools.ts";
import { asksForTools, modelMessagesInFlight } from "../turn-messages.ts";

/** A runtime that also carries what a LangChain call needs. */
type CallRuntime = NodeRuntime & Pick<RunnableConfig, "callbacks" | "signal" | "metadata" | "tags">;

/** Makes the node. */
export function callModel(deps: SessionDeps) {
  return async (state: SessionStateValues, runtime: CallRuntime): Promise<SessionUpdate> => {
    const { session, turn } = requireTurn(state);
    const run = readRunContext(deps, runtime);
    // `prompt` is never stored: a run that goes on after an interrupt builds it again.
    const prompt = state.prompt ?? (await assemblePrompt(deps, run, session, turn)).prompt;
    const model = await deps.models.chatModel(
      turn.solver ?? "",
      modelOptions(session.modelConfig.temperature),
    );
    const mayCallTools = turn.modelCalls + 1 < deps.limits.modelCalls;
    const answer = await ask(deps, {
      model: mayCallTools ? bindTools(model, deps.tools ?? []) : model,
      messages: [...prompt, ...modelMessagesInFlight(state, turn)],
      runtime,
      stop: deps.stops.signalFor(session.sessionId),
    });
    if (!mayCallTools && asksForTools(answer.message)) throw outOfCalls(deps.limits.modelCalls);
    return {
      messages: [answer.message],
      turn: { ...turn, modelCalls: turn.modelCalls + 1, status: answer.stopped ? "stopped" : turn.status },
    };
  };
}

function outOfCalls(limit: number): LilyError {
  return new LilyError(
    "model_failed",
    `the model still asked for tools after ${limit} calls, and was offered none`,
    {
      next: "Ask in smaller steps, or choose another model with /model. Your message was not stored.",
    },
  );
}

function modelOptions(temperature: number | undefined): { temperature?: number } {
  return temperature === undefined ? {} : { temperature };
}

function bindTools(
  model: BaseChatModel,
  others: readonly StructuredToolInterface[],
): Runnable<BaseMessage[], AIMessageChunk> {
  return model.bindTools?.(sessionTools(others)) ?? model;
}

interface Question {
  readonly model: Runnable<BaseMessage[], AIMessageChunk> | BaseChatModel;
  readonly messages: BaseMessage[];
  readonly runtime: CallRuntime;
  readonly stop: AbortSignal | undefined;
}

interface Answer {
  readonly message: AIMessage;
  readonly stopped: boolean;
}

async function ask(deps: SessionDeps, question: Question): Promise<Answer> {
  const { stop, runtime } = question;
  const signals = [stop, runtime.signal].filter((signal) => signal !== undefined);
  const signal = AbortSignal.any(signals);
  const partial: { chunk: AIMessageChunk | undefined } = { chunk: undefined };
  try {
    const message = await withRetries(() => stream(question, signal, partial), { sleep: deps.sleep, signal });
    return { message, stopped: false };
  } catch (error) {
    if (stop?.aborted === true) return { message: stoppedMessage(deps, partial.chunk), stopped: true };
    throw modelFailedError(error);
  }
}

async function stream(
  { model, messages, runtime }: Question,
  signal: AbortSignal,
  partial: { chunk: AIMessageChunk | undefined },
): Promise<AIMessage> {
  partial.chunk = undefined;
  const { callbacks, metadata, tags } = runtime;
  const config: RunnableConfig = {
    signal,
    ...(callbacks === undefined ? {} : { callbacks }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(tags === undefined ? {} : { tags }),
  };
  for await (const chunk of await model.stream(messages, config)) {
    partial.chunk = partial.chunk === undefined ? chunk : concat(partial.chunk, chunk);
  }
  if (partial.chunk === undefined) throw new LilyError("model_failed", "the model sent nothing");
  const message = finalMessage(partial.chunk);
  if (contentText(message.content).trim() !== "" || asksForTools(message)) return message;
  throw new LilyError("model_failed", "the model answered with nothing", {
    next: "Send the message again, or choose another model with /model. It was not stored.",
  });
}

/** The text so far; a tool call that was half written is dropped. */
function stoppedMessage(deps: SessionDeps, chunk: AIMessageChunk | undefined): AIMessage {
  const content = chunk === undefined ? "" : contentText(chunk.content);
  return new AIMessage({ content, id: chunk?.id ?? deps.ids.uuid() });
}
