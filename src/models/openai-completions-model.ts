/** LangChain's chat completions client with its holes closed. Loaded lazily: the package behind it is slow to start. */
import type { BaseLanguageModelInput } from "@langchain/core/language_models/base";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import {
  AIMessage,
  type AIMessageChunk,
  type BaseMessage,
  type MessageContent,
} from "@langchain/core/messages";
import type { ChatGenerationChunk } from "@langchain/core/outputs";
import {
  ChatOpenAICompletions,
  type BaseChatOpenAIFields,
  type ChatOpenAICompletionsCallOptions,
} from "@langchain/openai";
import { estimateTokens } from "#src/kernel/text.ts";
import { settleToolCalls } from "./final-message.ts";
import { guardStream } from "./stream-guard.ts";
import { THOUGHT } from "./wire/leave-out.ts";

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
      (signal) => super._streamResponseChunks(messages.map(withThought), { ...options, signal }, runManager),
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

/** LangChain sends no thoughts; as a part of the content they reach the request, where they are put in their place. */
function withThought(message: BaseMessage): BaseMessage {
  const thought = message.additional_kwargs["reasoning_content"];
  if (
    !AIMessage.isInstance(message) ||
    typeof thought !== "string" ||
    (message.tool_calls ?? []).length === 0
  )
    return message;
  const content = [
    { type: "text", text: message.text },
    { type: THOUGHT, text: thought },
  ];
  return new AIMessage({ content, tool_calls: message.tool_calls ?? [] });
}
