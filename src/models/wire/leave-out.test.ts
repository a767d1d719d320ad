import {
  AIMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  type BaseMessage,
} from "@langchain/core/messages";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ChatModels } from "../chat-model.ts";
import { classifyModelError } from "../model-errors.ts";
import { createOpenAIChatModels } from "../openai-chat-models.ts";
import { startFakeOpenAIServer, type FakeOpenAIServer } from "../testing/fake-openai-server.ts";

const TOOL = { type: "function", function: { name: "look", parameters: { type: "object", properties: {} } } };

const OPTIONS = { tags: [], parallel_tool_calls: false };

let server: FakeOpenAIServer;
let models: ChatModels;
beforeEach(async () => {
  server = await startFakeOpenAIServer();
  models = createOpenAIChatModels({ baseURL: server.baseURL });
});
afterEach(() => server.close());

/** The server refuses requests in which `has` holds with a status and `words`. */
function refuse(
  words: string,
  has: (body: Readonly<Record<string, unknown>>) => boolean,
  status = 400,
): void {
  server.always((body) =>
    has(body)
      ? { kind: "body", status, body: JSON.stringify({ error: { message: words } }) }
      : { kind: "text", chunks: ["ok"] },
  );
}

async function ask(
  messages: BaseMessage[] = [new SystemMessage("Be brief."), new HumanMessage("hi")],
): Promise<string> {
  const model = await models.chatModel("m", { temperature: 0.5 });
  const answer = await model.bindTools?.([TOOL], OPTIONS)?.invoke(messages);
  return answer?.text ?? "";
}

const last = () => server.requests.at(-1)?.body ?? {};

describe("D-1 what a server refuses is left out, remembered, and said once", () => {
  const hasSystem = (body: Readonly<Record<string, unknown>>) =>
    JSON.stringify(body["messages"]).includes('"system"');
  const cases: [string, string, string, (body: Readonly<Record<string, unknown>>) => boolean, number?][] = [
    [
      "Ollama",
      "registry.ollama.ai/library/gemma:latest does not support tools",
      "tools",
      (body) => "tools" in body,
    ],
    [
      "vLLM",
      '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
      "tools",
      (body) => "tools" in body,
    ],
    ["llama.cpp", "tools param requires --jinja flag", "tools", (body) => "tools" in body, 500],
    [
      "OpenRouter",
      'No endpoints found that support tool use. Try disabling "look".',
      "tools",
      (body) => "tools" in body,
      404,
    ],
    ["Groq", "`tool calling` is not supported with this model", "tools", (body) => "tools" in body],
    [
      "OpenAI's without streams",
      "Unsupported value: 'stream' does not support true with this model.",
      "streaming",
      (body) => body["stream"] === true,
    ],
    ["Gemma's template", "System role not supported", "system role", hasSystem],
    ["Google", "Developer instruction is not enabled for models/gemma-3-12b-it", "system role", hasSystem],
    [
      "an older template",
      "Conversation roles must alternate user/assistant/user/assistant/...",
      "system role",
      hasSystem,
      500,
    ],
    [
      "Azure",
      "Unrecognized request argument supplied: stream_options",
      "stream_options",
      (body) => "stream_options" in body,
    ],
    [
      "Mistral",
      "body.parallel_tool_calls: Extra inputs are not permitted",
      "parallel_tool_calls",
      (body) => "parallel_tool_calls" in body,
      422,
    ],
    [
      "OpenAI",
      "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.",
      "temperature",
      (body) => "temperature" in body,
    ],
    [
      "Kimi",
      "invalid temperature: only 1 is allowed for this model",
      "temperature",
      (body) => "temperature" in body,
    ],
  ];

  it.each(cases)("%s: %s", async (_name, words, ability, has, status) => {
    refuse(words, has, status);
    expect([await ask(), server.requests.length]).toEqual(["ok", 2]);
    expect([await ask(), server.requests.length]).toEqual(["ok", 3]);
    const notices = models.takeNotices?.("openai:m") ?? [];
    expect(notices).toHaveLength(1);
    expect(notices[0]).toContain(`takes no ${ability} ("${words}")`);
    expect(models.takeNotices?.("m")).toEqual([]);
    expect(last()).toHaveProperty("model", "m");
    if (ability !== "tools") expect(last()).toHaveProperty("tools");
  });

  it("several, one after the other", async () => {
    refuse(
      "Unrecognized request arguments: temperature, parallel_tool_calls",
      (body) => "temperature" in body || "parallel_tool_calls" in body,
    );
    expect([await ask(), server.requests.length]).toEqual(["ok", 3]);
    expect(models.takeNotices?.("m")).toHaveLength(2);
  });

  it("instructions stand before the first message, which stays one", async () => {
    refuse("System role not supported", hasSystem);
    await ask();
    expect(last()["messages"]).toEqual([{ role: "user", content: "Be brief.\n\nhi" }]);
    await ask([
      new SystemMessage("Be brief."),
      new HumanMessage({ content: [{ type: "text", text: "hi" }] }),
    ]);
    expect(last()["messages"]).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "Be brief." },
          { type: "text", text: "hi" },
        ],
      },
    ]);
  });

  it("calls of an earlier model are told as text to one without tools", async () => {
    refuse(
      "m does not support tools",
      (body) => "tools" in body || JSON.stringify(body).includes("tool_call"),
    );
    const call = { id: "c1", name: "look", args: { at: "sky" } };
    await ask([
      new HumanMessage("hi"),
      new AIMessage({ content: "", tool_calls: [call] }),
      new ToolMessage({ content: "blue", tool_call_id: "c1" }),
      new HumanMessage("and?"),
    ]);
    expect(last()["messages"]).toEqual([
      { role: "user", content: "hi" },
      { role: "assistant", content: expect.stringContaining('{\\"at\\":\\"sky\\"}') as unknown },
      { role: "user", content: "Result of a tool: blue\n\nand?" },
    ]);
  });

  it.each([
    [400, "messages with role 'tool' must be a response to a preceding message with 'tool_calls'"],
    [400, "model m not found"],
    [429, "tools are not supported at this rate"],
    [500, "out of memory"],
  ])("an error about something else is told at once: %i %s", async (status, words) => {
    refuse(words, () => true, status);
    const failure = classifyModelError(await ask().catch((error: unknown) => error));
    expect([failure.message.includes(words), server.requests.length]).toEqual([true, 1]);
    expect(models.takeNotices?.("m")).toEqual([]);
  });

  it("nothing is remembered of a further try that fails too", async () => {
    refuse("this server does not support tools", () => true);
    await expect(ask()).rejects.toThrow("does not support tools");
    expect([server.requests.length, models.takeNotices?.("m")]).toEqual([2, []]);
  });
});

describe("D-2 thoughts go back with the calls that they led to", () => {
  const thoughtful = new AIMessage({
    content: "Let me look.",
    additional_kwargs: { reasoning_content: "The sky." },
    tool_calls: [{ id: "c1", name: "look", args: {} }],
  });
  const loop = [new HumanMessage("hi"), thoughtful, new ToolMessage({ content: "blue", tool_call_id: "c1" })];
  const carries = (body: Readonly<Record<string, unknown>>) =>
    JSON.stringify(body["messages"]).includes('"reasoning_content":"The sky."');

  it("to a server that wants them", async () => {
    refuse("Missing `reasoning_content` field in the assistant message at index 1", (body) => !carries(body));
    expect([await ask(loop), server.requests.length]).toEqual(["ok", 1]);
    expect(last()["messages"]).toMatchObject([
      {},
      { content: "Let me look.", tool_calls: [{ id: "c1" }] },
      {},
    ]);
  });

  it("not to one that refuses them", async () => {
    refuse("messages.1.reasoning_content: Extra inputs are not permitted", carries);
    expect([await ask(loop), server.requests.length]).toEqual(["ok", 2]);
  });

  it("not with an answer that called nothing", async () => {
    const plain = new AIMessage({ content: "Yes.", additional_kwargs: { reasoning_content: "The sky." } });
    await ask([new HumanMessage("hi"), plain, new HumanMessage("and?")]);
    expect(carries(last())).toBe(false);
  });
});

describe("D-1 a refusal under status 200", () => {
  const words = "this model does not support tools";
  it.each<[string, object]>([
    ["OpenAI's form", { error: { message: words } }],
    ["vLLM's form", { object: "error", message: words, code: 400 }],
    ["a text", { error: words }],
  ])("is heard as one with an error status is: %s", async (_what, body) => {
    server.always((request) =>
      "tools" in request
        ? { kind: "body", status: 200, body: JSON.stringify(body) }
        : { kind: "text", chunks: ["ok"] },
    );
    expect(await ask()).toBe("ok");
    expect(await ask()).toBe("ok");
    expect(server.requests).toHaveLength(3);
    expect(models.takeNotices?.("m")).toHaveLength(1);
  });
});
