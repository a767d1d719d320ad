import { AIMessage, HumanMessage, SystemMessage, type AIMessageChunk } from "@langchain/core/messages";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createOpenAIChatModels, openAISettingsOf } from "./openai-chat-models.ts";
import { describeChatModelsContract } from "./testing/chat-models.contract.ts";
import { startFakeOpenAIServer, type FakeOpenAIServer } from "./testing/fake-openai-server.ts";

const LOOK_UP = {
  type: "function",
  function: {
    name: "look_up",
    description: "Looks a word up.",
    parameters: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
  },
} as const;

let server: FakeOpenAIServer;
beforeEach(async () => {
  server = await startFakeOpenAIServer();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await server.close();
});

function modelsWithKey() {
  return createOpenAIChatModels({ apiKey: "sk-test-key", baseURL: server.baseURL });
}

describeChatModelsContract(
  "an OpenAI-compatible server",
  async () => createOpenAIChatModels({ baseURL: server.baseURL }),
  { reference: "openai:fake" },
);

describe("a request to the server", () => {
  it("is a streamed chat completion with only the fields that were asked for", async () => {
    const model = await modelsWithKey().chatModel("openai:llama3.1:8b");
    await model.invoke([new SystemMessage("Be brief."), new HumanMessage("hi")]);
    expect(server.requests[0]?.body).toEqual({
      model: "llama3.1:8b",
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "hi" },
      ],
    });
  });

  it("carries temperature and reasoning effort, also for a model that LangChain does not know", async () => {
    const model = await modelsWithKey().chatModel("openai:gpt-oss:20b", {
      temperature: 0,
      reasoningEffort: "low",
    });
    await model.invoke("hi");
    expect(server.requests[0]?.body).toMatchObject({ temperature: 0, reasoning_effort: "low" });
  });

  it("carries the key, or a placeholder when there is only a base URL", async () => {
    await (await modelsWithKey().chatModel("m")).invoke("hi");
    await (await createOpenAIChatModels({ baseURL: server.baseURL }).chatModel("m")).invoke("hi");
    expect(server.requests.map((request) => request.headers.authorization)).toEqual([
      "Bearer sk-test-key",
      "Bearer not-needed",
    ]);
  });

  it("asks every server for usage", async () => {
    const told = await (await modelsWithKey().chatModel("m")).invoke("hi");
    expect(server.requests[0]?.body["stream_options"]).toEqual({ include_usage: true });
    expect(told.usage_metadata).toMatchObject({ input_tokens: 7, output_tokens: 3, total_tokens: 10 });
  });

  it.each(["gpt-5.1-codex", "gpt-5.5-pro", "o3"])(
    "uses the chat completions API for %s too",
    async (name) => {
      await (await modelsWithKey().chatModel(`openai:${name}`)).invoke("hi");
      expect(server.requests[0]?.path).toBe("/v1/chat/completions");
    },
  );

  it("goes to the configured server whatever LangSmith's and OpenAI's variables say", async () => {
    vi.stubEnv("LANGSMITH_GATEWAY", "http://127.0.0.1:1");
    vi.stubEnv("LANGSMITH_API_KEY", "ls-key");
    vi.stubEnv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
    vi.stubEnv("OPENAI_API_KEY", "sk-other");
    await (await modelsWithKey().chatModel("m")).invoke("hi");
    expect(server.requests[0]?.headers.authorization).toBe("Bearer sk-test-key");
  });

  it("is the only one: no tokenizer is fetched from the internet", async () => {
    const fetched: string[] = [];
    const realFetch = globalThis.fetch;
    vi.spyOn(globalThis, "fetch").mockImplementation((input, init) => {
      fetched.push(input instanceof Request ? input.url : String(input));
      return realFetch(input, init);
    });
    const model = await modelsWithKey().chatModel("gpt-4o");
    await model.invoke("hi");
    expect(await model.getNumTokens("12345678")).toBe(2);
    vi.restoreAllMocks();
    expect(new Set(fetched)).toEqual(new Set([`${server.baseURL}/chat/completions`]));
  });
});

describe("an answer", () => {
  it("streams in the chunks in which it was sent", async () => {
    server.enqueue({ kind: "text", chunks: ["Hel", "lo ", "there"] });
    const texts = (await chunksOf(await modelsWithKey().chatModel("m"))).map((chunk) => chunk.text);
    expect(texts.filter((text) => text !== "")).toEqual(["Hel", "lo ", "there"]);
  });

  it("reaches the reader before it is complete", async () => {
    server.enqueue({ kind: "hang", chunks: ["first"] });
    const stream = await (await modelsWithKey().chatModel("m")).stream("hi");
    const reader = stream[Symbol.asyncIterator]();
    expect(((await reader.next()).value as AIMessageChunk).text).toBe("first");
    await reader.return?.();
    await vi.waitFor(() => expect(server.requests[0]?.aborted).toBe(true));
  });

  it("has its tool calls assembled from their pieces", async () => {
    server.enqueue({
      kind: "toolCalls",
      calls: [
        { id: "c1", name: "look_up", arguments: '{"word":"lily of the valley"}' },
        { id: "c2", name: "look_up", arguments: '{"word":"Süß 🌷"}' },
      ],
    });
    const bound = (await modelsWithKey().chatModel("m")).bindTools?.([LOOK_UP]);
    const answer = await bound?.invoke("hi");
    expect(server.requests[0]?.body["tools"]).toEqual([LOOK_UP]);
    expect(answer?.tool_calls).toEqual([
      { type: "tool_call", id: "c1", name: "look_up", args: { word: "lily of the valley" } },
      { type: "tool_call", id: "c2", name: "look_up", args: { word: "Süß 🌷" } },
    ]);
    expect(answer?.response_metadata["finish_reason"]).toBe("tool_calls");
  });

  it("keeps two tool calls apart that the server gave the same index", async () => {
    const calls = [
      { id: "c1", index: 0, name: "look_up", arguments: '{"a":1}' },
      { id: "c2", index: 0, name: "look_up", arguments: "" },
    ];
    server.enqueue({ kind: "toolCalls", calls });
    const answer = await (await modelsWithKey().chatModel("m")).invoke("hi");
    expect(answer.tool_calls?.map((call) => [call.id, call.args])).toEqual([
      ["c1", { a: 1 }],
      ["c2", {}],
    ]);
  });

  it.each(['{"word": "li', "{}}", "[1]", '"text"', "nothing", "{'word': 1}"])(
    "reports the tool arguments %j as invalid instead of mending or crashing",
    async (text) => {
      server.enqueue({ kind: "toolCalls", calls: [{ id: "c1", name: "look_up", arguments: text }] });
      const answer = await (await modelsWithKey().chatModel("m")).invoke("hi");
      expect(answer.tool_calls).toEqual([]);
      expect(answer.invalid_tool_calls).toMatchObject([{ id: "c1", name: "look_up", args: text }]);
    },
  );

  it("gives a tool call an id when the server gave none", async () => {
    server.enqueue({ kind: "toolCalls", calls: [{ name: "look_up", arguments: '{"word":"a"}' }] });
    const answer = await (await modelsWithKey().chatModel("m")).invoke("hi");
    expect(answer.tool_calls).toMatchObject([{ name: "look_up", args: { word: "a" } }]);
    expect(answer.tool_calls?.[0]?.id).toMatch(/^call-/u);
  });

  it("may be empty", async () => {
    server.enqueue({ kind: "text", chunks: [] });
    const answer = await (await modelsWithKey().chatModel("m")).invoke("hi");
    expect(answer.text).toBe("");
  });

  it("is the refusal when the model refuses", async () => {
    server.enqueue({ kind: "refusal", text: "I will not." });
    expect((await (await modelsWithKey().chatModel("m")).invoke("hi")).text).toBe("I will not.");
  });

  it("is the assistant's also when the server names no role", async () => {
    server.enqueue({
      kind: "frames",
      frames: ['data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\n'],
    });
    const answer = await (await modelsWithKey().chatModel("m")).invoke("hi");
    expect([answer.type, answer.text]).toEqual(["ai", "hi"]);
  });

  it("says that it was cut at the length limit", async () => {
    server.enqueue({ kind: "text", chunks: ["half"], finishReason: "length" });
    const answer = await (await modelsWithKey().chatModel("m")).invoke("hi");
    expect(answer.response_metadata["finish_reason"]).toBe("length");
  });

  it("reads as content-block events too", async () => {
    server.enqueue({ kind: "text", chunks: ["a", "b"] });
    const model = await modelsWithKey().chatModel("m");
    const message = await model.streamEvents("hi");
    expect(message).toBeInstanceOf(AIMessage);
    expect(message.text).toBe("ab");
  });
});

describe("createOpenAIChatModels", () => {
  it("names the way out when no server is configured", async () => {
    const models = createOpenAIChatModels({});
    await expect(models.chatModel("gpt-4o")).rejects.toMatchObject({
      code: "config_invalid",
      next: expect.stringContaining("OPENAI_API_KEY") as unknown,
    });
  });

  it.each(["localhost:11434/v1", "not a url", "file:///tmp"])("refuses the base URL %j", async (baseURL) => {
    await expect(createOpenAIChatModels({ baseURL }).chatModel("m")).rejects.toMatchObject({
      code: "config_invalid",
    });
  });

  it("leaves scripted models to tests", async () => {
    await expect(modelsWithKey().chatModel("scripted:x")).rejects.toMatchObject({ code: "model_unknown" });
  });
});

describe("openAISettingsOf", () => {
  it("takes key and base URL, and blank as not set", () => {
    expect(openAISettingsOf({ OPENAI_API_KEY: " sk-1 ", OPENAI_BASE_URL: "" })).toEqual({ apiKey: "sk-1" });
  });
});

async function chunksOf(model: { stream(input: string): Promise<AsyncIterable<AIMessageChunk>> }) {
  const chunks: AIMessageChunk[] = [];
  for await (const chunk of await model.stream("hi")) chunks.push(chunk);
  return chunks;
}
