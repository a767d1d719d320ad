/** What every source of chat models must do, whatever stands behind it. */
import { beforeEach, describe, expect, it } from "vitest";
import type { ChatModels } from "../chat-model.ts";

/** Runs the contract on sources made by `makeModels`, which must have a model `reference` that answers anything. */
export function describeChatModelsContract(
  name: string,
  makeModels: () => Promise<ChatModels>,
  { reference }: { readonly reference: string },
): void {
  describe(`${name} as a source of chat models`, () => {
    let models: ChatModels;
    beforeEach(async () => {
      models = await makeModels();
    });

    it("gives a model that answers with text, says why it stopped, and streams the same text", async () => {
      const model = await models.chatModel(reference);
      const whole = await model.invoke("hello");
      expect(whole.response_metadata["finish_reason"]).toBe("stop");
      const again = await models.chatModel(reference);
      let streamed = "";
      for await (const chunk of await again.stream("hello")) streamed += chunk.text;
      expect(streamed).toBe(whole.text);
    });

    it.each(["symbolic", "", "foo:bar"])("refuses %j as model_unknown", async (text) => {
      await expect(models.chatModel(text)).rejects.toMatchObject({
        name: "LilyError",
        code: "model_unknown",
      });
    });

    it("gives models that take tools", async () => {
      const model = await models.chatModel(reference);
      const parameters = { type: "object", properties: {} };
      const bound = model.bindTools?.([{ type: "function", function: { name: "look", parameters } }]);
      expect((await bound?.invoke("hello"))?.text).not.toBe("");
    });

    it("does not start a call whose signal is aborted", async () => {
      const model = await models.chatModel(reference);
      await expect(model.invoke("hello", { signal: AbortSignal.abort() })).rejects.toThrow(/abort/iu);
    });
  });
}
