/** A model without latency that keeps nothing, so that a benchmark measures what is around it. */
import { SimpleChatModel, type BindToolsInput } from "@langchain/core/language_models/chat_models";
import { AIMessageChunk } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";

const WORDS =
  `the harbour master wrote that three boats would leave before the tide and asked whether anyone had seen
  the blue ledger since last winter because its pages hold the weights of every crate we moved`.split(/\s+/u);

/** Text number `index` of about forty words, no two alike; `kind` tells questions from answers. */
export function benchText(index: number, kind: "question" | "answer"): string {
  const shift = index % WORDS.length;
  const turned = [...WORDS.slice(shift), ...WORDS.slice(0, shift)];
  return `${kind} ${index}: ${turned.join(" ")} item ${index * 7} and item ${index * 13}`;
}

/** Answers each call with the next text, in one chunk where it is streamed; calls no tool. */
export class InstantModel extends SimpleChatModel {
  #calls = 0;

  override _llmType(): string {
    return "instant";
  }

  override bindTools(_tools: BindToolsInput[]) {
    return this.withConfig({});
  }

  override async _call(): Promise<string> {
    this.#calls += 1;
    return benchText(this.#calls, "answer");
  }

  override async *_streamResponseChunks(): AsyncGenerator<ChatGenerationChunk> {
    const text = await this._call();
    const finished = { finish_reason: "stop" };
    const message = new AIMessageChunk({ content: text, response_metadata: finished });
    yield new ChatGenerationChunk({ text, message, generationInfo: finished });
  }
}
