import { ModelAbortError } from "@langchain/core/errors";
import type { AIMessageChunk } from "@langchain/core/messages";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { classifyModelError } from "./model-errors.ts";
import { createOpenAIChatModels } from "./openai-chat-models.ts";
import { withRetries } from "./retry-model.ts";
import {
  startFakeOpenAIServer,
  type FakeBehaviour,
  type FakeOpenAIServer,
} from "./testing/fake-openai-server.ts";

const KEY = "sk-secret-0123456789";

let server: FakeOpenAIServer;
beforeEach(async () => {
  server = await startFakeOpenAIServer();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await server.close();
});

async function ask(options: { signal?: AbortSignal; timeoutMs?: number } = {}): Promise<AIMessageChunk> {
  const models = createOpenAIChatModels({
    apiKey: KEY,
    baseURL: server.baseURL,
    timeoutMs: options.timeoutMs,
  });
  const model = await models.chatModel("fake");
  return model.invoke("hi", options.signal === undefined ? {} : { signal: options.signal });
}

async function failure(behaviour: FakeBehaviour, options: { timeoutMs?: number } = {}) {
  server.always(behaviour);
  return classifyModelError(await ask(options).catch((error: unknown) => error));
}

describe("a failed call is classified", () => {
  it.each<[string, FakeBehaviour, object]>([
    ["429", { kind: "status", status: 429 }, { kind: "rate_limit", retryable: true, streamed: false }],
    [
      "429 with retry-after",
      { kind: "status", status: 429, headers: { "retry-after": "7" } },
      { kind: "rate_limit", retryable: true, retryAfterMs: 7000 },
    ],
    [
      "429 without credit",
      { kind: "status", status: 429, error: { message: "quota", code: "insufficient_quota" } },
      { kind: "no_credit", retryable: false },
    ],
    ["500", { kind: "status", status: 500 }, { kind: "overloaded", retryable: true }],
    ["529", { kind: "status", status: 529 }, { kind: "overloaded", retryable: true }],
    ["401", { kind: "status", status: 401 }, { kind: "auth", retryable: false }],
    ["403", { kind: "status", status: 403 }, { kind: "auth", retryable: false }],
    ["400", { kind: "status", status: 400 }, { kind: "bad_request", retryable: false }],
    ["404", { kind: "status", status: 404 }, { kind: "bad_request", retryable: false }],
    [
      "a prompt that is too long",
      {
        kind: "status",
        status: 400,
        error: {
          message: "This model's maximum context length is 8 tokens",
          code: "context_length_exceeded",
        },
      },
      { kind: "context_length", retryable: false },
    ],
    [
      "a cut connection",
      { kind: "cut", chunks: ["half an"], by: "destroy" },
      { kind: "cut_stream", retryable: true, streamed: true },
    ],
    [
      "a stream that ends politely but early",
      { kind: "cut", chunks: ["half an"], by: "end" },
      { kind: "cut_stream", retryable: true, streamed: true },
    ],
    [
      "an unreadable chunk",
      { kind: "malformed", chunks: [] },
      { kind: "malformed", retryable: true, streamed: false },
    ],
    [
      "an unreadable chunk after text",
      { kind: "malformed", chunks: ["a"] },
      { kind: "malformed", streamed: true },
    ],
    [
      "an error inside the stream",
      { kind: "errorFrame", chunks: ["a"], error: { message: "busy", type: "server_error" } },
      { kind: "overloaded", streamed: true },
    ],
    [
      "a page that is no answer",
      { kind: "body", type: "text/html", body: "<html>Log in</html>" },
      { kind: "malformed" },
    ],
    ["an empty body", { kind: "frames", frames: [] }, { kind: "malformed" }],
    [
      "a stream of nothing but the end",
      { kind: "frames", frames: ["data: [DONE]\n\n"] },
      { kind: "malformed" },
    ],
  ])("%s", async (_name, behaviour, expected) => {
    const printed = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const classified = await failure(behaviour);
    expect(classified).toMatchObject(expected);
    expect(classified.message).toMatch(/^[A-Z].*\. [A-Z].*\.$/u);
    expect(server.requests).toHaveLength(1);
    expect(printed).not.toHaveBeenCalled();
  });

  it("a server that is not there", async () => {
    await server.close();
    expect(classifyModelError(await ask().catch((error: unknown) => error))).toMatchObject({
      kind: "connection",
      retryable: true,
    });
  });

  it("a server that never answers, and one that falls silent", async () => {
    expect(await failure({ kind: "hang" }, { timeoutMs: 40 })).toMatchObject({
      kind: "timeout",
      streamed: false,
    });
    // Long enough for the first piece to come on a busy machine.
    const silent = await failure({ kind: "hang", chunks: ["a"] }, { timeoutMs: 500 });
    expect(silent).toMatchObject({ kind: "timeout", retryable: true, streamed: true });
    await vi.waitFor(() => expect(server.requests.every(({ aborted }) => aborted)).toBe(true));
  });

  it("without the key, though the server repeats it", async () => {
    const error = { message: `Bad request for ${KEY} and Bearer abcdef, api_key=hunter2` };
    const { message } = await failure({ kind: "status", status: 400, error });
    expect(message).toContain("[hidden]");
    expect(message).not.toMatch(/secret-0123|abcdef|hunter2/u);
  });
});

describe("an abort", () => {
  it("ends a call that hangs, at once", async () => {
    server.enqueue({ kind: "hang" });
    const controller = new AbortController();
    const call = ask({ signal: controller.signal }).catch((error: unknown) => error);
    await vi.waitFor(() => expect(server.requests).toHaveLength(1));
    controller.abort();
    expect(classifyModelError(await call)).toMatchObject({ kind: "aborted", retryable: false });
    await vi.waitFor(() => expect(server.requests[0]?.aborted).toBe(true));
  });

  it("in the middle of an answer is an error that holds the part that had come", async () => {
    server.enqueue({ kind: "hang", chunks: ["The ans", "wer "] });
    const controller = new AbortController();
    const model = await createOpenAIChatModels({ baseURL: server.baseURL }).chatModel("fake");
    const abortAt = { handleLLMNewToken: (token: string) => void (token === "wer " && controller.abort()) };
    const call = model.invoke("hi", { signal: controller.signal, callbacks: [abortAt] });
    const error = await call.catch((thrown: unknown) => thrown);
    expect(ModelAbortError.isInstance(error)).toBe(true);
    expect((error as ModelAbortError).partialOutput?.text).toBe("The answer ");
  });

  it("in the middle of a stream is an error too", async () => {
    server.enqueue({ kind: "hang", chunks: ["The ans", "wer "] });
    const controller = new AbortController();
    const model = await createOpenAIChatModels({ baseURL: server.baseURL }).chatModel("fake");
    let read = "";
    const reading = async () => {
      for await (const chunk of await model.stream("hi", { signal: controller.signal })) {
        read += chunk.text;
        if (read === "The answer ") controller.abort();
      }
    };
    const error = await reading().catch((thrown: unknown) => thrown);
    expect([read, classifyModelError(error).kind]).toEqual(["The answer ", "aborted"]);
  });
});

describe("withRetries around a real call", () => {
  const sleep = async () => undefined;

  it("waits as long as the server asks, and succeeds", async () => {
    server.enqueue({ kind: "status", status: 429, headers: { "retry-after": "2" } });
    const waits: number[] = [];
    const answer = await withRetries(() => ask(), { sleep: async (ms) => void waits.push(ms) });
    expect([answer.text, waits, server.requests.length]).toEqual(["ok", [2000], 2]);
  });

  it("gives up after its attempts", async () => {
    server.always({ kind: "status", status: 500 });
    const error = await withRetries(() => ask(), { sleep }).catch((thrown: unknown) => thrown);
    expect(classifyModelError(error).kind).toBe("overloaded");
    expect(server.requests).toHaveLength(3);
  });

  it.each([401, 400, 404])("does not repeat a %s", async (status) => {
    server.always({ kind: "status", status });
    await expect(withRetries(() => ask(), { sleep })).rejects.toThrow();
    expect(server.requests).toHaveLength(1);
  });

  it("does not repeat an answer that broke off after part of it was shown", async () => {
    server.enqueue({ kind: "cut", chunks: ["half"], by: "destroy" });
    await expect(withRetries(() => ask(), { sleep })).rejects.toThrow();
    expect(server.requests).toHaveLength(1);
  });
});
