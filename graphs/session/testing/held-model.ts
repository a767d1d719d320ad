/** A model that answers when a test says so. */
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";

/** A held model with what lets it go on. */
export interface HeldModel {
  readonly model: ScriptedChatModel;
  /** Resolves when the model has been asked for the `count`th time. */
  asked(count: number): Promise<void>;
  /** Answers the oldest call that waits with "re: " and the last user message. */
  answer(): void;
}

/** Makes the model. */
export function heldModel(): HeldModel {
  const answers: (() => void)[] = [];
  const watchers: { readonly count: number; readonly call: () => void }[] = [];
  const model = new ScriptedChatModel(async (messages, index) => {
    const answered = new Promise<void>((resolve) => answers.push(resolve));
    for (const { count, call } of watchers) if (count <= index + 1) call();
    await answered;
    const last = messages.findLast((message) => message.type === "human")?.content;
    return `re: ${typeof last === "string" ? last : JSON.stringify(last)}`;
  });
  return {
    model,
    asked: (count) =>
      new Promise((resolve) => {
        if (model.calls.length >= count) resolve();
        else watchers.push({ count, call: resolve });
      }),
    answer: () => answers.shift()?.(),
  };
}
