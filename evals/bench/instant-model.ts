/** A model without latency that keeps nothing, so that a benchmark measures what is around it. */
import {
  BaseChatModel,
  type BaseChatModelCallOptions,
  type BindToolsInput,
} from "@langchain/core/language_models/chat_models";
import type { BaseLanguageModelInput } from "@langchain/core/language_models/base";
import { AIMessage, AIMessageChunk, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";
import type { Runnable } from "@langchain/core/runnables";
import { benchmarkText } from "./benchmark-text.ts";
import { LOOK_UP } from "./look-up.ts";

/** What the model says next: a text, or the call of a tool. */
interface Said {
  readonly text: string;
  readonly call?: { readonly id: string; readonly query: string };
}

/** Answers each turn with the next text of about forty words, in one chunk; `usesTools`: after one tool call. */
export class InstantModel extends BaseChatModel {
  readonly #usesTools: boolean;
  #calls = 0;
  #given = 0;

  constructor({ usesTools = false }: { readonly usesTools?: boolean } = {}) {
    super({});
    this.#usesTools = usesTools;
  }

  /** Messages of the conversation that it was given in its last call. */
  get given(): number {
    return this.#given;
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

  override async *_streamResponseChunks(messages: BaseMessage[]): AsyncGenerator<ChatGenerationChunk> {
    const { text, call } = this.#next(messages);
    const args = call && JSON.stringify({ query: call.query });
    const message = new AIMessageChunk({
      content: text,
      ...(call === undefined || args === undefined
        ? {}
        : { tool_call_chunks: [{ name: LOOK_UP, args, id: call.id, index: 0, type: "tool_call_chunk" }] }),
      response_metadata: finished(call === undefined),
    });
    yield new ChatGenerationChunk({ text, message, generationInfo: finished(call === undefined) });
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const { text, call } = this.#next(messages);
    const message = new AIMessage({
      content: text,
      ...(call === undefined
        ? {}
        : { tool_calls: [{ name: LOOK_UP, args: { query: call.query }, id: call.id, type: "tool_call" }] }),
      response_metadata: finished(call === undefined),
    });
    return { generations: [{ text, message }] };
  }

  #next(messages: readonly BaseMessage[]): Said {
    this.#given = messages.filter(({ type }) => type !== "system").length;
    this.#calls += 1;
    if (this.#usesTools && !ToolMessage.isInstance(messages.at(-1)))
      return { text: "", call: { id: `call-${this.#calls}`, query: `item ${this.#calls * 7}` } };
    return { text: benchmarkText(this.#calls, "answer") };
  }
}

function finished(isAnswer: boolean): { finish_reason: string } {
  return { finish_reason: isAnswer ? "stop" : "tool_calls" };
}
