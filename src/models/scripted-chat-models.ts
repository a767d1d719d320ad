/** A source of scripted models, for tests of what asks for models by reference. */
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { LilyError } from "#src/kernel/errors.ts";
import type { ChatModelOptions, ChatModels } from "./chat-model.ts";
import { parseModelReference, printModelReference } from "./model-reference.ts";

/** A source that also remembers what it was asked for. */
export interface ScriptedChatModels extends ChatModels {
  readonly asked: readonly { readonly reference: string; readonly options: ChatModelOptions }[];
}

/** Makes a source of exactly the models in `models`, keyed by full reference (`scripted:main`, `openai:gpt-4o`). */
export function createScriptedChatModels(
  models: Readonly<Record<string, BaseChatModel>>,
): ScriptedChatModels {
  const asked: { reference: string; options: ChatModelOptions }[] = [];
  return {
    asked,
    async chatModel(text, options = {}) {
      const reference = printModelReference(parseModelReference(text));
      asked.push({ reference, options });
      const model = Object.hasOwn(models, reference) ? models[reference] : undefined;
      if (model !== undefined) return model;
      throw new LilyError("model_unknown", `No model is scripted for ${reference}.`, {
        next: "Add it to the models of the test.",
      });
    },
  };
}
