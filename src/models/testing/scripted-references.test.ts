import { describe, expect, it } from "vitest";
import { createScriptedChatModels, ScriptedChatModel } from "./scripted-chat-model.ts";
import { describeChatModelsContract } from "./chat-models.contract.ts";

describeChatModelsContract(
  "a script",
  async () => createScriptedChatModels({ "scripted:echo": new ScriptedChatModel() }),
  { reference: "scripted:echo" },
);

describe("createScriptedChatModels", () => {
  it("can stand in for a real model, and remembers what it was asked for", async () => {
    const model = new ScriptedChatModel();
    const models = createScriptedChatModels({ "openai:gpt-4o": model });
    expect(await models.chatModel("gpt-4o", { temperature: 0 })).toBe(model);
    expect(models.asked).toEqual([{ reference: "openai:gpt-4o", options: { temperature: 0 } }]);
  });
});
