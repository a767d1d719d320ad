import { AIMessageChunk, HumanMessage, isBaseMessage } from "@langchain/core/messages";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { classifyModelError } from "./model-errors.ts";
import { finalMessage } from "./final-message.ts";
import { createOpenAIChatModels } from "./openai-chat-models.ts";
import { ScriptedChatModel } from "./testing/scripted-chat-model.ts";
import { startFakeOpenAIServer, type FakeOpenAIServer } from "./testing/fake-openai-server.ts";

let server: FakeOpenAIServer;
beforeEach(async () => {
  server = await startFakeOpenAIServer();
});
afterEach(() => server.close());

function graphOf(model: BaseChatModel) {
  return new StateGraph(MessagesAnnotation)
    .addNode("callModel", async (state, config) => ({
      messages: [finalMessage(await model.invoke(state.messages, config))],
    }))
    .addEdge(START, "callModel")
    .addEdge("callModel", END)
    .compile();
}

async function fakeModel(): Promise<BaseChatModel> {
  return createOpenAIChatModels({ baseURL: server.baseURL }).chatModel("fake");
}

async function streamedTexts(model: BaseChatModel): Promise<string[]> {
  const texts: string[] = [];
  const stream = await graphOf(model).stream(
    { messages: [new HumanMessage("hi")] },
    { streamMode: "messages" },
  );
  for await (const [message] of stream) {
    if (isBaseMessage(message) && message instanceof AIMessageChunk && message.text !== "")
      texts.push(message.text);
  }
  return texts;
}

describe("a one-node graph", () => {
  it("streams the server's tokens as messages, once", async () => {
    server.enqueue({ kind: "text", chunks: ["Hel", "lo ", "there"] });
    expect(await streamedTexts(await fakeModel())).toEqual(["Hel", "lo ", "there"]);
  });

  it("streams a script's chunks as messages, once", async () => {
    const model = new ScriptedChatModel([{ chunks: ["Hel", "lo"] }]);
    expect(await streamedTexts(model)).toEqual(["Hel", "lo"]);
    expect(model.calls).toHaveLength(1);
  });

  it("keeps answers apart that the server gave the same id", async () => {
    const graph = graphOf(await fakeModel());
    const first = await graph.invoke({ messages: [new HumanMessage("one")] });
    const second = await graph.invoke({ messages: [...first.messages, new HumanMessage("two")] });
    expect(second.messages.map((message) => message.text)).toEqual(["one", "ok", "two", "ok"]);
  });

  it("keeps the finish reason on the streaming path", async () => {
    server.enqueue({ kind: "text", chunks: ["half"], finishReason: "length" });
    let reason: unknown;
    const stream = await graphOf(await fakeModel()).stream(
      { messages: [new HumanMessage("hi")] },
      { streamMode: ["messages", "values"] },
    );
    for await (const [mode, value] of stream) {
      if (mode === "values") reason = value.messages.at(-1)?.response_metadata["finish_reason"];
    }
    expect(reason).toBe("length");
  });

  it("fails instead of keeping a cut answer", async () => {
    server.enqueue({ kind: "cut", chunks: ["half an"], by: "end" });
    const error = await streamedTexts(await fakeModel()).catch((thrown: unknown) => thrown);
    expect(classifyModelError(error)).toMatchObject({ kind: "cut_stream", streamed: true });
  });

  it("fails instead of keeping a cut answer when nobody reads the stream", async () => {
    server.enqueue({ kind: "cut", chunks: ["half an"], by: "end" });
    const run = graphOf(await fakeModel()).invoke({ messages: [new HumanMessage("hi")] });
    await expect(run).rejects.toMatchObject({ failure: "cut_stream" });
  });

  it("ends promptly when it is aborted while the server hangs", async () => {
    server.enqueue({ kind: "hang" });
    const controller = new AbortController();
    const run = graphOf(await fakeModel()).invoke(
      { messages: [new HumanMessage("hi")] },
      { signal: controller.signal },
    );
    setTimeout(() => controller.abort(), 20);
    await expect(run).rejects.toThrow(/abort/iu);
  });
});
