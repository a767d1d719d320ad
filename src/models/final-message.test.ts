import { AIMessage, AIMessageChunk } from "@langchain/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { finalMessage, settleToolCalls } from "./final-message.ts";

function answerWith(...chunks: readonly { id?: string; name?: string; args?: string }[]): AIMessageChunk {
  return new AIMessageChunk({
    content: "",
    id: "run-1",
    tool_call_chunks: chunks.map((chunk, index) => ({ type: "tool_call_chunk", index, ...chunk })),
  });
}

describe("settleToolCalls", () => {
  it("keeps calls whose arguments are JSON objects, and reads empty arguments as none", () => {
    const settled = settleToolCalls(
      answerWith({ id: "a", name: "one", args: ' {"x":1} ' }, { id: "b", name: "two", args: "" }),
    );
    expect(settled.tool_calls).toEqual([
      { type: "tool_call", id: "a", name: "one", args: { x: 1 } },
      { type: "tool_call", id: "b", name: "two", args: {} },
    ]);
    expect(settled.invalid_tool_calls).toEqual([]);
  });

  it("refuses half-received arguments, which LangChain would complete", () => {
    const half = { id: "a", name: "remove", args: '{"path":"/tm' };
    expect(answerWith(half).tool_calls).toMatchObject([{ args: { path: "/tm" } }]);
    expect(settleToolCalls(answerWith(half))).toMatchObject({ tool_calls: [], invalid_tool_calls: [half] });
  });

  it.each([
    ["length", "", "longest answer"],
    ["length", '{"path"', "longest answer"],
    ["content_filter", "", "content filter"],
    ["content_filter", '{"path"', "content filter"],
  ])("D-10 refuses a call that was cut by %s at %j, and says by what", (reason, args, said) => {
    const answer = answerWith({ id: "a", name: "one", args: "{}" }, { id: "b", name: "two", args });
    answer.response_metadata = { finish_reason: reason };
    expect(settleToolCalls(answer)).toMatchObject({
      tool_calls: [{ id: "a" }],
      invalid_tool_calls: [{ id: "b", error: expect.stringContaining(said) as unknown }],
    });
  });

  it("refuses every proper beginning of an object", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), fc.nat(), (value, cut) => {
        const text = JSON.stringify(value);
        const part = text.slice(0, 1 + (cut % (text.length - 1)));
        expect(settleToolCalls(answerWith({ id: "a", name: "t", args: part })).tool_calls).toEqual([]);
      }),
    );
  });

  it("refuses a call that names no tool, and gives ids where there are none", () => {
    const settled = settleToolCalls(
      answerWith({ id: "a", args: "{}" }, { name: "t", args: "{}" }, { id: "", name: "u" }),
    );
    expect(settled.invalid_tool_calls).toMatchObject([{ id: "a", error: "The call names no tool." }]);
    expect(settled.tool_calls?.map((call) => call.id)).toEqual(["call-run-1-1", "call-run-1-2"]);
  });

  it("leaves a message without streamed calls as it is", () => {
    const message = new AIMessageChunk({ content: "x", tool_calls: [{ id: "a", name: "t", args: {} }] });
    expect(settleToolCalls(message).tool_calls).toMatchObject([{ id: "a" }]);
  });
});

describe("finalMessage", () => {
  it("makes a plain message without raw calls and stream bookkeeping", () => {
    const answer = answerWith({ id: "a", name: "t", args: "{}" });
    answer.additional_kwargs = {
      tool_calls: [{ id: "a", type: "function", function: { name: "t", arguments: "{}" } }],
      note: 1,
    };
    answer.response_metadata = {
      prompt: 0,
      completion: 0,
      usage: {},
      finish_reason: "tool_calls",
      model_name: "m",
    };
    const message = finalMessage(answer);
    expect(message.constructor).toBe(AIMessage);
    expect(message).toMatchObject({
      id: "run-1",
      content: "",
      tool_calls: [{ id: "a", name: "t", args: {} }],
    });
    expect(message.additional_kwargs).toEqual({ note: 1 });
    expect(message.response_metadata).toEqual({ finish_reason: "tool_calls", model_name: "m" });
  });

  it("keeps content and usage", () => {
    const usage = { input_tokens: 1, output_tokens: 2, total_tokens: 3 };
    const message = finalMessage(Object.assign(new AIMessageChunk("hello"), { usage_metadata: usage }));
    expect(message.content).toBe("hello");
    expect(message.usage_metadata).toEqual(usage);
  });

  it("takes a message that was never streamed", () => {
    const message = finalMessage(
      new AIMessage({ content: "x", tool_calls: [{ id: "a", name: "t", args: {} }] }),
    );
    expect(message.tool_calls).toMatchObject([{ id: "a" }]);
  });
});

describe("the ids of tool calls", () => {
  const idsOf = (message: AIMessage) =>
    [...(message.tool_calls ?? []), ...(message.invalid_tool_calls ?? [])].map(({ id }) => id);

  it("are distinct in one message, the first one kept as it was sent", () => {
    const twice = answerWith(
      { id: "a", name: "one", args: "{}" },
      { id: "a", name: "two", args: "{}" },
      { id: "a", name: "three", args: "{" },
    );
    expect(idsOf(finalMessage(twice))).toEqual(["a", "a-2", "a-3"]);
  });

  it("are made where a server sends none, also for a call without a name, which is invalid", () => {
    const message = finalMessage(answerWith({ name: "one", args: "{}" }, { args: "{}" }));
    expect(message.tool_calls).toMatchObject([{ name: "one", id: "call-run-1-0" }]);
    expect(message.invalid_tool_calls).toMatchObject([{ name: "", id: "call-run-1-1" }]);
  });

  it("are made for calls that did not stream", () => {
    const call = { name: "one", args: {}, type: "tool_call" as const };
    const whole = new AIMessage({ content: "", id: "run-1", tool_calls: [call, { ...call, id: "" }] });
    expect(idsOf(finalMessage(whole))).toEqual(["call-run-1", "call-run-1-2"]);
  });

  it("are distinct and in order for any calls", () => {
    fc.assert(
      fc.property(fc.array(fc.option(fc.constantFrom("", "a", "a-2", "b")), { maxLength: 20 }), (ids) => {
        const calls = ids.map((id, index) => ({
          ...(id === null ? {} : { id }),
          name: `f${index}`,
          args: "{}",
        }));
        const message = finalMessage(answerWith(...calls));
        expect(new Set(idsOf(message)).size).toBe(ids.length);
        expect(message.tool_calls?.map(({ name }) => name)).toEqual(calls.map(({ name }) => name));
      }),
    );
  });
});
