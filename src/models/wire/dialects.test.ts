import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AIMessage } from "@langchain/core/messages";
import { concat } from "@langchain/core/utils/stream";
import { finalMessage } from "../final-message.ts";
import { classifyModelError } from "../model-errors.ts";
import { createOpenAIChatModels } from "../openai-chat-models.ts";
import { FAKE_DIALECTS, SAID } from "../testing/fake-dialects.ts";
import {
  startFakeOpenAIServer,
  type FakeBehaviour,
  type FakeOpenAIServer,
} from "../testing/fake-openai-server.ts";
import { deltaFrame, eventFrame } from "../testing/fake-openai-wire.ts";

let server: FakeOpenAIServer;
beforeAll(async () => {
  server = await startFakeOpenAIServer();
});
afterAll(() => server.close());

async function answerTo(behaviour: FakeBehaviour): Promise<AIMessage> {
  server.enqueue(behaviour);
  const model = await createOpenAIChatModels({ baseURL: server.baseURL }).chatModel("m");
  const stream = await model.stream("hi");
  let whole;
  for await (const chunk of stream) whole = whole === undefined ? chunk : concat(whole, chunk);
  if (whole === undefined) throw new Error("no chunk came");
  return finalMessage(whole);
}

function streamOf(...deltas: readonly object[]): FakeBehaviour {
  const frames = deltas.map((delta) => deltaFrame(delta, "m"));
  return { kind: "frames", frames: [...frames, deltaFrame({}, "m", "tool_calls"), DONE] };
}

const DONE = "data: [DONE]\n\n";

function called({ tool_calls = [] }: AIMessage): unknown[] {
  return tool_calls.map(({ name, args }) => [name, args]);
}

async function failureOf(behaviour: FakeBehaviour) {
  return classifyModelError(await answerTo(behaviour).catch((error: unknown) => error));
}

describe("every server says the same in one form", () => {
  it.each(FAKE_DIALECTS)("%s", async (_name, behaviour) => {
    const answer = await answerTo(behaviour);
    expect(answer.text).toBe(SAID.text);
    expect(String(answer.additional_kwargs["reasoning_content"]).trim()).toBe(SAID.reasoning.trim());
    expect(called(answer)).toEqual(SAID.calls.map((args) => ["weather", args]));
    expect(new Set(answer.tool_calls?.map(({ id }) => id)).size).toBe(2);
    expect(answer.invalid_tool_calls).toEqual([]);
    expect(answer.response_metadata["finish_reason"]).toBe("tool_calls");
  });

  it.each(["text/plain", "text/event-stream", "application/octet-stream"])(
    "reads a whole answer that the server calls %s",
    async (type) => {
      const choice = {
        index: 0,
        message: { role: "assistant", content: "All of it." },
        finish_reason: "stop",
      };
      const body = `\n${JSON.stringify({ id: "x", choices: [choice] }, null, 2)}`;
      expect((await answerTo({ kind: "body", type, body })).text).toBe("All of it.");
    },
  );

  it("reads events that the server calls JSON", async () => {
    const body = [deltaFrame({ content: "a" }, "m"), deltaFrame({ content: "b" }, "m", "stop"), DONE].join(
      "",
    );
    expect((await answerTo({ kind: "body", body })).text).toBe("ab");
  });

  it("counts what a server counts, also where it leaves out the sum", async () => {
    const frames = [
      deltaFrame({ content: "a" }, "m", "stop"),
      eventFrame({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } }),
      DONE,
    ];
    expect((await answerTo({ kind: "frames", frames })).usage_metadata).toMatchObject({ total_tokens: 10 });
  });
});

describe("tool calls", () => {
  const call = (args: unknown, more: object = {}) => ({
    index: 0,
    function: { name: "t", arguments: args },
    ...more,
  });

  it("D-3 take arguments that are an object, and parameters in place of arguments", async () => {
    expect(called(await answerTo(streamOf({ tool_calls: [call({ a: 1 })] })))).toEqual([["t", { a: 1 }]]);
    const flat = { tool_calls: [{ name: "t", parameters: { a: [2] } }] };
    expect(called(await answerTo(streamOf(flat)))).toEqual([["t", { a: [2] }]]);
  });

  it.each<[string, object, object]>([
    ["null", { id: null }, { id: null }],
    ["empty", { id: "" }, { id: "" }],
    ["absent", {}, {}],
    ["equal", { id: "call_0" }, { id: "call_0" }],
  ])("D-4 two at index 0 with %s ids are two, whole and in pieces", async (_name, one, two) => {
    const expected = [
      ["t", { a: 1 }],
      ["t", { a: 2 }],
    ];
    const together = streamOf({ tool_calls: [call('{"a":1}', one), call('{"a":2}', two)] });
    expect(called(await answerTo(together))).toEqual(expected);
    const inTurn = streamOf({ tool_calls: [call('{"a":1}', one)] }, { tool_calls: [call('{"a":2}', two)] });
    expect(called(await answerTo(inTurn))).toEqual(expected);
    const rest = (args: string) => ({ tool_calls: [{ index: 0, function: { arguments: args } }] });
    const inPieces = streamOf(
      { tool_calls: [call("", one)] },
      rest('{"a"'),
      rest(":1}"),
      { tool_calls: [call("", two)] },
      rest('{"a":2}'),
    );
    const answer = await answerTo(inPieces);
    expect(called(answer)).toEqual(expected);
    expect(new Set(answer.tool_calls?.map(({ id }) => id)).size).toBe(2);
  });

  it("D-3 take arguments that are text twice over", async () => {
    expect(called(await answerTo(streamOf({ tool_calls: [call(JSON.stringify('{"a":1}'))] })))).toEqual([
      ["t", { a: 1 }],
    ]);
  });

  it("D-4 one whose pieces have an id each is one", async () => {
    const pieces = ['{"a"', ":1}"].map((args) => ({
      tool_calls: [{ index: 0, id: `random-${args}`, function: { arguments: args } }],
    }));
    expect(called(await answerTo(streamOf({ tool_calls: [call("", { id: "x" })] }, ...pieces)))).toEqual([
      ["t", { a: 1 }],
    ]);
  });

  it("are read in the form before there were several at once", async () => {
    const older = streamOf(
      { function_call: { name: "t", arguments: '{"a"' } },
      { function_call: { arguments: ":1}" } },
    );
    expect(called(await answerTo(older))).toEqual([["t", { a: 1 }]]);
  });
});

describe("the end of an answer", () => {
  it("D-5 is told in one word for each reason", async () => {
    const end = async (reason: string) =>
      (await answerTo({ kind: "text", chunks: ["half"], finishReason: reason })).response_metadata[
        "finish_reason"
      ];
    expect([await end("length"), await end("MAX_TOKENS"), await end("model_length")]).toEqual([
      "length",
      "length",
      "length",
    ]);
    expect([await end("content_filter"), await end("SAFETY")]).toEqual(["content_filter", "content_filter"]);
  });

  it("is told once, also where the server repeats it", async () => {
    const frames = [deltaFrame({ content: "a" }, "m", "stop"), deltaFrame({}, "m", "stop"), DONE];
    expect((await answerTo({ kind: "frames", frames })).response_metadata["finish_reason"]).toBe("stop");
  });

  it.each<[string, string[]]>([
    ["null throughout", [deltaFrame({ content: "All of it." }, "m"), DONE]],
    [
      "an empty text",
      ['data:{"choices":[{"delta":{"content":"All of it."},"finish_reason":""}]}\r\n\r\ndata:[DONE]\r\n\r\n'],
    ],
    [
      "left out, one JSON a line",
      ['{"choices":[{"delta":{"content":"All of it."}}]}\n', "[DONE]", "\n", "data: [DONE]"],
    ],
  ])("D-7 [DONE] is one where the finish reason is %s", async (_name, frames) => {
    const answer = await answerTo({ kind: "frames", frames });
    expect([answer.text, answer.response_metadata["finish_reason"]]).toEqual(["All of it.", "stop"]);
  });

  it("D-7 a stream that just ends is none", async () => {
    expect(await failureOf({ kind: "frames", frames: [deltaFrame({ content: "Half" }, "m")] })).toMatchObject(
      { kind: "cut_stream" },
    );
  });
});

describe("thoughts", () => {
  const text = (...chunks: string[]): FakeBehaviour => ({ kind: "text", chunks });

  it.each<[string, string[]]>([
    ["in one piece", ["<think>hm</think>Yes."]],
    ["in small pieces", Array.from("\n<think>hm</think>\n\nYes.")],
    ["twice", ["<think>h</think>\n<think>m</think>Yes."]],
    ["with other marks", ["[THINK]hm[/TH", "INK] Yes."]],
  ])("D-6 in the text are reasoning: %s", async (_name, chunks) => {
    const answer = await answerTo(text(...chunks));
    expect([answer.text, answer.additional_kwargs["reasoning_content"]]).toEqual(["Yes.", "hm"]);
  });

  it("D-6 whose opening stands in the template, not in the answer, are reasoning in what is kept", async () => {
    const answer = await answerTo(text("I won", "der.\n</th", "ink>\n\nYes."));
    expect([answer.text, answer.additional_kwargs["reasoning_content"]]).toEqual(["Yes.", "I wonder.\n"]);
    const about = "A closing </think> ends them.";
    expect((await answerTo(text(about))).text).toBe(about);
  });

  it("D-6 that do not end are reasoning all through", async () => {
    const answer = await answerTo(text("<think>I wonder ", "</thi"));
    expect([answer.text, answer.additional_kwargs["reasoning_content"]]).toEqual(["", "I wonder </thi"]);
  });

  it.each(["The mark <think> opens, </think> closes.", "< 3", "<thanks>", " x", "<"])(
    "D-6 are not in %j",
    async (said) => {
      expect((await answerTo(text(...Array.from(said)))).text).toBe(said);
    },
  );
});

describe("D-8 an error", () => {
  const overflow = "This model's maximum context length is 4096 tokens.";

  it.each<[string, FakeBehaviour, string, string]>([
    [
      "vLLM's",
      {
        kind: "body",
        status: 400,
        body: JSON.stringify({ object: "error", message: overflow, type: "BadRequestError", code: 400 }),
      },
      "context_length",
      overflow,
    ],
    [
      "of a 200",
      { kind: "body", body: JSON.stringify({ error: { message: "Rate limited upstream.", code: 429 } }) },
      "rate_limit",
      "Rate limited upstream.",
    ],
    [
      "of a 200 as text",
      { kind: "body", body: JSON.stringify({ error: "model runner has stopped" }) },
      "unknown",
      "model runner has stopped.",
    ],
    [
      "of a 200 that has no such model",
      { kind: "body", body: JSON.stringify({ error: 'model "llama9:8b" not found, try pulling it first' }) },
      "bad_request",
      'model "llama9:8b" not found, try pulling it first.',
    ],
    [
      "in plain text",
      { kind: "body", status: 404, type: "text/plain", body: "404 page not found" },
      "bad_request",
      "page not found.",
    ],
    [
      "as a page",
      {
        kind: "body",
        status: 502,
        type: "text/html",
        body: "<html><head><title>Bad gateway at edge</title></head></html>",
      },
      "overloaded",
      "Bad gateway at edge.",
    ],
    [
      "FastAPI's",
      {
        kind: "body",
        status: 422,
        body: JSON.stringify({ detail: [{ loc: ["body", "seed"], msg: "Extra inputs are not permitted" }] }),
      },
      "bad_request",
      "body.seed: Extra inputs are not permitted.",
    ],
    [
      "OpenRouter's",
      {
        kind: "body",
        status: 400,
        body: JSON.stringify({
          error: {
            message: "Provider returned error",
            code: 400,
            metadata: { raw: '{"message":"no such thing"}' },
          },
        }),
      },
      "bad_request",
      "Provider returned error: no such thing.",
    ],
    [
      "Gemini's",
      {
        kind: "body",
        status: 400,
        body: JSON.stringify([
          { error: { code: 400, message: "API key not valid.", status: "INVALID_ARGUMENT" } },
        ]),
      },
      "bad_request",
      "API key not valid.",
    ],
    [
      "vLLM's inside a stream",
      { kind: "frames", frames: [eventFrame({ object: "error", message: overflow, code: 400 }), DONE] },
      "context_length",
      overflow,
    ],
    [
      "as a page of a 200",
      { kind: "body", type: "text/html", body: "<!doctype html><title>Welcome to nginx!</title>" },
      "malformed",
      "it is a web page (Welcome to nginx!)",
    ],
    [
      "MiniMax's, of a 200",
      {
        kind: "body",
        body: JSON.stringify({ choices: null, base_resp: { status_code: 1004, status_msg: "login fail" } }),
      },
      "unknown",
      "login fail.",
    ],
    [
      "of a 200 without an answer",
      { kind: "body", body: JSON.stringify({ success: false, code: 503, msg: "No free channel" }) },
      "overloaded",
      "No free channel.",
    ],
    [
      "under its name in a stream",
      { kind: "frames", frames: ['event: error\ndata: {"message":"out of memory"}\n\n'] },
      "unknown",
      "out of memory.",
    ],
  ])("%s is told in the server's words, once", async (_name, behaviour, kind, words) => {
    const failure = await failureOf(behaviour);
    expect(failure.kind).toBe(kind);
    expect(failure.message.split(words)).toHaveLength(2);
    expect(failure.message.match(/\b[45]\d\d\b/gu)?.length ?? 0).toBeLessThanOrEqual(1);
  });
});
