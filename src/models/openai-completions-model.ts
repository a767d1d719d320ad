/** LangChain's chat completions client with its holes closed. Loaded lazily: the package behind it is slow to start. */
import type { BaseLanguageModelInput } from "@langchain/core/language_models/base";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import type { AIMessageChunk, BaseMessage, MessageContent } from "@langchain/core/messages";
import type { ChatGenerationChunk } from "@langchain/core/outputs";
import {
  ChatOpenAICompletions,
  type BaseChatOpenAIFields,
  type ChatOpenAICompletionsCallOptions,
} from "@langchain/openai";
import { estimateTokens } from "#src/kernel/tokens.ts";
import { settleToolCalls } from "./final-message.ts";
import { guardStream } from "./stream-guard.ts";

/**
 * A chat completions model whose streams are guarded ({@link guardStream}) and whose tool calls are strict
 * ({@link settleToolCalls}). The parent is used instead of `ChatOpenAI`, which moves to the responses API by itself for
 * some model names.
 */
export class OpenAICompletionsModel extends ChatOpenAICompletions {
  readonly #silenceMs: number;

  constructor(fields: BaseChatOpenAIFields, options: { readonly silenceMs: number }) {
    super(fields);
    this.#silenceMs = options.silenceMs;
  }

  override async invoke(
    input: BaseLanguageModelInput,
    options?: ChatOpenAICompletionsCallOptions,
  ): Promise<AIMessageChunk> {
    return settleToolCalls(await super.invoke(input, options));
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    yield* guardStream(
      (signal) => super._streamResponseChunks(messages, { ...options, signal }, runManager),
      {
        signal: options.signal,
        silenceMs: this.#silenceMs,
      },
    );
  }

  /** The parent's own event stream takes a path around the guard; the base class derives events from guarded chunks. */
  override _streamChatModelEvents(
    ...parameters: Parameters<BaseChatModel["_streamChatModelEvents"]>
  ): ReturnType<BaseChatModel["_streamChatModelEvents"]> {
    return BaseChatModel.prototype._streamChatModelEvents.apply(this, parameters);
  }

  /** The parent downloads a tokenizer from the internet, also at the end of each streamed `invoke`. */
  override async getNumTokens(content: MessageContent): Promise<number> {
    return estimateTokens(typeof content === "string" ? content : JSON.stringify(content));
  }
}
