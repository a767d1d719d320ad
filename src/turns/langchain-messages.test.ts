import {
  AIMessage,
  AIMessageChunk,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  type BaseMessage,
} from "@langchain/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { messageSchema, type Message } from "#src/sessions/message.ts";
import { contentText, fromLangChain, toLangChain } from "./langchain-messages.ts";

const AT = "2026-03-01T09:00:00.000Z";
const from = (message: BaseMessage): Message => fromLangChain(message, AT);
const call = (id: string, args: Record<string, unknown> = {}) => ({
  id,
  name: "find",
  args,
  type: "tool_call" as const,
});

describe("the text of a message's content", () => {
  it.each<[string, unknown, string]>([
    ["a string", "hi", "hi"],
    [
      "parts of text",
      [
        { type: "text", text: "a" },
        { type: "text", text: "b" },
      ],
      "a\nb",
    ],
    ["strings as parts", ["a", "b"], "a\nb"],
    [
      "a picture beside text",
      [
        { type: "image_url", image_url: "x" },
        { type: "text", text: "a" },
      ],
      "a",
    ],
    [
      "thoughts beside text",
      [
        { type: "reasoning", text: "hm" },
        { type: "text", text: "a" },
      ],
      "a",
    ],
    ["parts that are no parts", [null, 5, [], { text: "a" }, { type: "text", text: 5 }], ""],
    ["no parts", [], ""],
    ["null", null, ""],
    ["a number", 5, ""],
  ])("is found in %s", (_in, content, text) => {
    expect(contentText(content)).toBe(text);
  });
});

describe("a LangChain message in a transcript", () => {
  it.each<[string, BaseMessage, Message["role"]]>([
    ["a user", new HumanMessage("x"), "user"],
    ["the assistant", new AIMessage("x"), "assistant"],
    ["the assistant, as a streamed chunk", new AIMessageChunk("x"), "assistant"],
    ["the system", new SystemMessage("x"), "system"],
    ["a tool", new ToolMessage({ content: "x", tool_call_id: "c" }), "tool"],
  ])("keeps that it is from %s", (_whom, message, role) => {
    expect(from(message)).toMatchObject({ role, content: "x", timestamp: AT });
  });

  it("has the tool calls of the assistant with their arguments as JSON text", () => {
    expect(from(new AIMessage({ content: "", tool_calls: [call("c1", { q: "x" })] })).toolCalls).toEqual([
      { id: "c1", name: "find", arguments: '{"q":"x"}' },
    ]);
  });

  it("has no list of tool calls where there are none", () => {
    expect(from(new AIMessage("x"))).not.toHaveProperty("toolCalls");
  });

  it("has calls that could not be read behind those that could, with what was written as their one argument", () => {
    const message = new AIMessage({
      content: "",
      tool_calls: [call("c1")],
      invalid_tool_calls: [{ name: "find", args: "{broken", type: "invalid_tool_call" }],
    });
    expect(from(message).toolCalls).toEqual([
      { id: "c1", name: "find", arguments: "{}" },
      { id: "invalid-1", name: "find", arguments: '{"unreadable":"{broken"}' },
    ]);
  });

  it("gives a call without an id one", () => {
    const message = new AIMessage({
      content: "",
      tool_calls: [{ name: "find", args: {}, type: "tool_call" }],
    });
    expect(from(message).toolCalls?.[0]?.id).toBe("call-1");
  });

  it("is storable text, whatever the content was", () => {
    expect(from(new AIMessage("a\ud800\u0000")).content).toBe("a\ufffd\u2400");
    const args = from(new AIMessage({ content: "", tool_calls: [call("c", { q: "\ud800" })] }))
      .toolCalls?.[0];
    expect(args?.arguments.isWellFormed()).toBe(true);
  });
});

describe("a transcript message for a model", () => {
  it("has the id that is given, and none otherwise", () => {
    const message: Message = { role: "user", content: "x", timestamp: AT };
    expect(toLangChain(message, "d1").id).toBe("d1");
    expect(toLangChain(message).id).toBeUndefined();
  });

  it.each<[string, string, object]>([
    ["an object", '{"q":[1]}', { q: [1] }],
    ["no JSON", "{broken", {}],
    ["nothing", "", {}],
    ["a list", "[1]", {}],
    ["null", "null", {}],
    ["a text", '"x"', {}],
  ])("has an object as arguments when the model sent %s", (_what, text, args) => {
    const message = toLangChain({
      role: "assistant",
      content: "",
      toolCalls: [{ id: "c", name: "find", arguments: text }],
      timestamp: AT,
    });
    expect((message as AIMessage).tool_calls?.[0]?.args).toEqual(args);
  });

  it("cannot change the prototype of anything by its arguments", () => {
    const toolCalls = [{ id: "c", name: "find", arguments: '{"__proto__":{"polluted":true}}' }];
    const message = toLangChain({ role: "assistant", content: "", toolCalls, timestamp: AT }) as AIMessage;
    expect(message.tool_calls?.[0]?.args).not.toHaveProperty("polluted");
    expect({}).not.toHaveProperty("polluted");
  });

  it("has text where a tool gave none, because providers refuse blank results", () => {
    const message = toLangChain({ role: "tool", content: " \n", toolCallId: "c", timestamp: AT });
    expect(message.content).toBe("(no output)");
  });

  it("has an empty answer where the answer was blank", () => {
    expect(toLangChain({ role: "assistant", content: " \n", timestamp: AT }).content).toBe("");
  });

  it("comes back as the same transcript message", () => {
    const text = fc
      .string({ unit: "grapheme", minLength: 1 })
      .map((value) => `x${value.replaceAll("\0", "")}`);
    const json = fc
      .dictionary(
        fc.string().filter((key) => key !== "__proto__"),
        fc.oneof(fc.string(), fc.integer(), fc.boolean()),
      )
      .map((value) => JSON.stringify(value));
    const toolCalls = fc.array(fc.record({ id: text, name: text, arguments: json }), { minLength: 1 });
    const message: fc.Arbitrary<Message> = fc
      .oneof(
        fc.record({ role: fc.constantFrom("user" as const, "system" as const), content: text }),
        fc.record({ role: fc.constant("tool" as const), content: text, toolCallId: text }),
        fc.record({ role: fc.constant("assistant" as const), content: text }),
        fc.record({ role: fc.constant("assistant" as const), content: fc.constant(""), toolCalls }),
      )
      .map((made) => ({ ...made, timestamp: AT }));
    fc.assert(
      fc.property(message, (before) => {
        const after = from(toLangChain(before));
        expect(after).toEqual(before);
        expect(messageSchema.safeParse(after).success).toBe(true);
      }),
    );
  });
});
