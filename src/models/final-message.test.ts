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
