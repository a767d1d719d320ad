/** Asks a reply model, streamed: with retries, then the fallbacks; a stop keeps what was written so far. */
import { AIMessage, type AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { Runnable, RunnableConfig } from "@langchain/core/runnables";
import { concat } from "@langchain/core/utils/stream";
import { isLilyError, LilyError } from "#src/kernel/errors.ts";
import { finalMessage } from "#src/models/final-message.ts";
import { classifyModelError, modelFailedError } from "#src/models/model-errors.ts";
import { withRetries } from "#src/models/retry-model.ts";
import { contentText } from "#src/turns/langchain-messages.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import type { NodeRuntime } from "./run-context.ts";
import { asksForTools } from "./turn-messages.ts";

/** A runtime that also carries what a LangChain call needs. */
export type CallRuntime = NodeRuntime & Pick<RunnableConfig, "callbacks" | "signal" | "metadata" | "tags">;

/** What can be asked. */
type AskedModel = Runnable<BaseMessage[], AIMessageChunk> | BaseChatModel;

interface Question {
  /** The model of a reference, with what it is offered. */
  readonly open: (reference: string) => Promise<AskedModel>;
  readonly messages: BaseMessage[];
  readonly runtime: CallRuntime;
  readonly stop: AbortSignal | undefined;
}

/** What a model answered. */
interface Answer {
  /** Reference of the model that answered. */
  readonly model: string;
  readonly message: AIMessage;
  readonly stopped: boolean;
}

/**
 * The answer of the first of `references` that gives one. The next one is asked when one has failed for good and nothing
 * of its answer was shown.
 *
 * @throws {LilyError} `model_failed` with what the first one failed of
 */
export async function askFirstThatAnswers(
  deps: SessionDeps,
  references: readonly string[],
  question: Question,
): Promise<Answer> {
  let first: unknown;
  for (const reference of references) {
    try {
      return { model: reference, ...(await ask(deps, reference, question)) };
    } catch (error) {
      first ??= error;
      if (question.runtime.signal?.aborted === true || classifyModelError(error).streamed) break;
    }
  }
  throw isLilyError(first) ? first : modelFailedError(first);
}

async function ask(deps: SessionDeps, reference: string, question: Question): Promise<Omit<Answer, "model">> {
  const { stop, runtime } = question;
  const signals = [stop, runtime.signal].filter((signal) => signal !== undefined);
  const signal = AbortSignal.any(signals);
  const partial: { chunk: AIMessageChunk | undefined } = { chunk: undefined };
  try {
    const model = await question.open(reference);
    const attempt = (): Promise<AIMessage> => stream(model, question, { signal, partial });
    const message = await withRetries(attempt, { sleep: deps.sleep, signal });
    return { message, stopped: false };
  } catch (error) {
    if (stop?.aborted === true) return { message: stoppedMessage(deps, partial.chunk), stopped: true };
    throw error;
  }
}

interface Streaming {
  readonly signal: AbortSignal;
  readonly partial: { chunk: AIMessageChunk | undefined };
}

async function stream(
  model: AskedModel,
  { messages, runtime }: Question,
  { signal, partial }: Streaming,
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
