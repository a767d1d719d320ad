/** A model without latency that keeps nothing, so that a benchmark measures what is around it. */
import {
  BaseChatModel,
  type BaseChatModelCallOptions,
  type BindToolsInput,
} from "@langchain/core/language_models/chat_models";
import type { BaseLanguageModelInput } from "@langchain/core/language_models/base";
import { AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";
import type { Runnable } from "@langchain/core/runnables";
import { benchmarkText } from "./benchmark-text.ts";

/** Answers each call with the next text of about forty words, in one chunk. */
export class InstantModel extends BaseChatModel {
  #calls = 0;

  constructor() {
    super({});
  }

  override _llmType(): string {
    return "instant";
  }

  override bindTools(
    _tools: BindToolsInput[],
    options: Partial<BaseChatModelCallOptions> = {},
  ): Runnable<BaseLanguageModelInput, AIMessageChunk, BaseChatModelCallOptions> {
    return this.withConfig(options);
  }

  override async *_streamResponseChunks(_messages: BaseMessage[]): AsyncGenerator<ChatGenerationChunk> {
    yield this.#next();
  }

  override async _generate(_messages: BaseMessage[]): Promise<ChatResult> {
    return { generations: [this.#next()] };
  }

  #next(): ChatGenerationChunk {
    this.#calls += 1;
    const text = benchmarkText(this.#calls, "answer");
    const message = new AIMessageChunk({ content: text, response_metadata: { finish_reason: "stop" } });
    return new ChatGenerationChunk({ text, message, generationInfo: { finish_reason: "stop" } });
  }
}
