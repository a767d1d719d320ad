/** The chat model that works without a network: it answers by looking up what the conversation has, not by language. */
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";

/** Text of an answer, and the places that it rests on, which its message carries as `additional_kwargs.sources`. */
export interface LookedUpAnswer {
  readonly text: string;
  readonly sources: readonly unknown[];
}

/** Answers the last message by what `lookUp` finds. */
export class SymbolicChatModel extends BaseChatModel {
  readonly #lookUp: () => Promise<LookedUpAnswer>;

  constructor(lookUp: () => Promise<LookedUpAnswer>) {
    super({});
    this.#lookUp = lookUp;
  }

  override _llmType(): string {
    return "symbolic";
  }

  override async _generate(_messages: BaseMessage[]): Promise<ChatResult> {
    const { text, sources } = await this.#lookUp();
    const message = new AIMessage({ content: text, additional_kwargs: { sources } });
    return { generations: [{ text, message }] };
  }
}
