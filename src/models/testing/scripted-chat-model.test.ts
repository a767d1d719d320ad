import { ModelAbortError } from "@langchain/core/errors";
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { classifyModelError } from "../model-errors.ts";
import { ScriptedChatModel } from "./scripted-chat-model.ts";

describe("ScriptedChatModel", () => {
  it("plays its steps in order", async () => {
    const model = new ScriptedChatModel(["one", { text: "two" }]);
    expect((await model.invoke("a")).text).toBe("one");
    expect((await model.invoke("b")).text).toBe("two");
  });

  it("says so when its script has run out", async () => {
    const model = new ScriptedChatModel(["one"]);
    await model.invoke("a");
    await expect(model.invoke("b")).rejects.toThrow("called 2 time(s), but its script has 1 step(s)");
  });

  it("asks a function for its steps", async () => {
    const model = new ScriptedChatModel(
      (messages, callIndex) => `${callIndex}: ${messages.length} message(s)`,
    );
    expect((await model.invoke([new SystemMessage("s"), new HumanMessage("h")])).text).toBe(
      "0: 2 message(s)",
    );
    expect((await model.invoke("x")).text).toBe("1: 1 message(s)");
  });

  it("echoes the last user message without a script", async () => {
    const model = new ScriptedChatModel();
    const answer = await model.invoke([
      new HumanMessage("first"),
      new AIMessage("x"),
      new HumanMessage("  héllo\n wörld "),
    ]);
    expect(answer.text).toBe("  héllo\n wörld ");
    expect((await model.invoke([new SystemMessage("s")])).text).toBe("");
  });

  it("streams text word by word, or in the chunks of the step", async () => {
    expect(await streamed(new ScriptedChatModel(["one two three"]))).toEqual(["one", " two", " three"]);
    expect(await streamed(new ScriptedChatModel([{ chunks: ["on", "e"] }]))).toEqual(["on", "e"]);
  });

  it("calls tools, and says why it stopped", async () => {
    const toolCalls = [{ id: "c1", name: "look_up", args: { word: "lily" } }];
    const answer = await new ScriptedChatModel([{ text: "Looking.", toolCalls }]).invoke("hi");
    expect(answer.text).toBe("Looking.");
    expect(answer.tool_calls).toEqual([{ type: "tool_call", ...toolCalls[0] }]);
    expect(answer.response_metadata["finish_reason"]).toBe("tool_calls");
  });

  it("plays broken tool arguments", async () => {
    const answer = await new ScriptedChatModel([{ toolCalls: [{ id: "c", name: "t", args: '{"a' }] }]).invoke(
      "hi",
    );
    expect(answer).toMatchObject({ tool_calls: [], invalid_tool_calls: [{ args: '{"a' }] });
  });

  it("remembers the names of bound tools, with the model that was bound", async () => {
    const model = new ScriptedChatModel();
    const parameters = { type: "object", properties: {} };
    const bound = model.bindTools([
      { type: "function", function: { name: "a", parameters } },
      { name: "b", description: "", schema: z.object({}) },
    ]);
    await bound.invoke("hi");
    await model.invoke("hi");
    expect(model.calls.map((call) => call.toolNames)).toEqual([["a", "b"], []]);
  });

  it("records what it was given as plain data that later changes do not reach", async () => {
    const model = new ScriptedChatModel();
    const human = new HumanMessage({ content: [{ type: "text", text: "hi" }], id: "m1", name: "ada" });
    const deep = [1];
    const ai = new AIMessage({ content: "", tool_calls: [{ id: "c1", name: "t", args: { deep } }] });
    await model.invoke([human, ai, new ToolMessage({ content: "r", tool_call_id: "c1" })]);
    (human.content[0] as { text: string }).text = "changed";
    deep.push(2);
    expect(model.calls[0]?.messages).toEqual([
      { type: "human", content: [{ type: "text", text: "hi" }], id: "m1", name: "ada" },
      { type: "ai", content: "", toolCalls: [{ id: "c1", name: "t", args: { deep: [1] } }] },
      { type: "tool", content: "r", toolCallId: "c1" },
    ]);
    expect(model.calls[0]).toMatchObject({ completed: true });
  });

  it("throws the error of a step, at once or after part of the answer", async () => {
    const error = Object.assign(new Error("busy"), { status: 503 });
    const model = new ScriptedChatModel([{ error }, { chunks: ["a"], error }]);
    await expect(model.invoke("x")).rejects.toBe(error);
    const late = await model.invoke("x").catch((thrown: unknown) => thrown);
    expect(classifyModelError(late)).toMatchObject({ kind: "overloaded", streamed: true });
    expect(model.calls[1]).toMatchObject({ streamed: ["a"], completed: false });
  });

  it("plays a cut stream", async () => {
    const model = new ScriptedChatModel([{ text: "half", finishReason: null }]);
    await expect(model.invoke("x")).rejects.toMatchObject({ failure: "cut_stream", streamed: true });
  });

  it("waits by the sleep it was given, and stops at an abort with the part that had gone out", async () => {
    const controller = new AbortController();
    const waits: number[] = [];
    const sleep = async (ms: number, signal?: AbortSignal) => {
      waits.push(ms);
      if (waits.length === 3) controller.abort();
      signal?.throwIfAborted();
    };
    const model = new ScriptedChatModel([{ text: "one two three", delayMs: 5 }], { sleep });
    const error = await model.invoke("x", { signal: controller.signal }).catch((thrown: unknown) => thrown);
    expect(waits).toEqual([5, 5, 5]);
    expect(ModelAbortError.isInstance(error) && error.partialOutput?.text).toBe("one two");
    expect(model.calls[0]).toMatchObject({ streamed: ["one", " two"], completed: false });
  });

  it("gives structured output through a tool call", async () => {
    const model = new ScriptedChatModel([
      { toolCalls: [{ id: "c", name: "verdict", args: { same: true } }] },
    ]);
    const structured = model.withStructuredOutput(z.object({ same: z.boolean() }), { name: "verdict" });
    expect(await structured.invoke("x")).toEqual({ same: true });
  });
});

async function streamed(model: ScriptedChatModel): Promise<string[]> {
  const texts: string[] = [];
  for await (const chunk of await model.stream("hi")) if (chunk.text !== "") texts.push(chunk.text);
  return texts;
}
