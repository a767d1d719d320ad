import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LilyError } from "#src/kernel/errors.ts";
import { type Attachment, type Message, messageSchema } from "#src/sessions/message.ts";
import { sha256Of } from "#src/sessions/seal.ts";
import { contentOf, contentText, fromLangChain, toLangChain, toModelInput } from "./langchain-messages.ts";

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

const PNG = Uint8Array.from([137, 80, 78, 71]);
const picture: Attachment = {
  kind: "image",
  mimeType: "image/png",
  sha256: sha256Of(PNG),
  bytes: PNG.length,
};
const BASE64 = Buffer.from(PNG).toString("base64");
const shownPicture = { type: "image", source_type: "base64", mime_type: "image/png", data: BASE64 };

const attached = {
  owner: "ada",
  blobs: {
    read: async (owner: string, sha256: string) =>
      owner === "ada" && sha256 === picture.sha256 ? { mimeType: "image/png", bytes: PNG } : undefined,
  },
};
const inputOf = (messages: BaseMessage[]) => toModelInput(messages, attached);
const result = (id: string, content = "found") =>
  new ToolMessage({ content, tool_call_id: id, name: "find" });
const withPicture = (text: string) => new HumanMessage({ content: contentOf(text, [picture]), id: text });

describe("the input of a model", () => {
  it("is the same objects where nothing is wrong", async () => {
    const messages = [
      new SystemMessage("you are"),
      new HumanMessage({ content: [{ type: "text", text: "a" }] }),
      new AIMessage({
        content: "",
        tool_calls: [{ id: "c1", name: "find", args: { q: [1] }, type: "tool_call" }],
      }),
      result("c1"),
      new AIMessage("b"),
    ];
    const input = await toModelInput(messages, attached);
    expect(input.every((message, index) => message === messages[index])).toBe(true);
  });

  it("answers calls that could not be read, so that none stays open", async () => {
    const broken = new AIMessage({
      content: "",
      invalid_tool_calls: [{ id: "c1", name: "find", args: "{broken", type: "invalid_tool_call" }],
    });
    const [asked, answered] = await inputOf([broken, result("c1", "the arguments were not valid JSON")]);
    expect(asked).toMatchObject({
      tool_calls: [{ id: "c1", name: "find", args: { unreadable: "{broken" } }],
      invalid_tool_calls: [],
    });
    expect(answered).toMatchObject({ tool_call_id: "c1", content: "the arguments were not valid JSON" });
  });

  it.each(['{"path": "/tm', '["a"', "x"])(
    "shows the model its own call %s, not an empty one (D-10)",
    async (args) => {
      const cut = new AIMessage({
        content: "",
        tool_calls: [{ id: "c0", name: "find", args: { a: 1 }, type: "tool_call" }],
        invalid_tool_calls: [{ id: "c1", name: "find", args, type: "invalid_tool_call" }],
      });
      const [asked] = await inputOf([cut, result("c0", "ok"), result("c1", "not run")]);
      expect(asked).toMatchObject({ tool_calls: [{ args: { a: 1 } }, { args: { unreadable: args } }] });
    },
  );

  it("leaves out a blank block of text beside a call", async () => {
    const message = new AIMessage({
      content: [{ type: "text", text: " \n" }],
      tool_calls: [{ id: "c1", name: "find", args: {}, type: "tool_call" }],
    });
    expect((await inputOf([message, result("c1")]))[0]?.content).toBe("");
  });

  it("has no half of a surrogate pair, and keeps the id of what it changes", async () => {
    const message = new AIMessage({ content: "a\ud800", id: "a1" });
    expect((await inputOf([message]))[0]).toMatchObject({ content: "a\ufffd", id: "a1" });
  });
});

describe("what is attached", () => {
  it("is shown with its content behind the text", async () => {
    const [message] = await inputOf([withPicture("look")]);
    expect(message?.content).toEqual([{ type: "text", text: "look" }, shownPicture]);
    expect(message?.id).toBe("look");
  });

  it("needs no text", async () => {
    expect((await inputOf([withPicture("")]))[0]?.content).toEqual([shownPicture]);
  });

  it("is shown in the newest three messages that have any, and told in words in older ones", async () => {
    const messages = ["one", "two", "three", "four"].flatMap((text) => [
      withPicture(text),
      new AIMessage("ok"),
    ]);
    const input = await inputOf([...messages, new HumanMessage("and now?")]);
    const users = input.filter((message) => HumanMessage.isInstance(message)).map(({ content }) => content);
    expect(users[0]).toBe("one\n[picture: image/png, 4 bytes]");
    for (const [index, text] of ["two", "three", "four"].entries())
      expect(users[index + 1]).toEqual([{ type: "text", text }, shownPicture]);
    expect(users[4]).toBe("and now?");
  });

  it("is the address alone where it lies elsewhere", async () => {
    const link = (kind: "image" | "file"): Attachment => ({ kind, url: "https://example.org/x" });
    const [message] = await inputOf([
      new HumanMessage({ content: contentOf("", [link("image"), link("file")]) }),
    ]);
    expect(message?.content).toEqual([
      { type: "image", source_type: "url", url: "https://example.org/x" },
      { type: "text", text: "[file: https://example.org/x]" },
    ]);
  });

  it("has a name when it is a file, because providers ask for one", async () => {
    const file: Attachment = { ...picture, kind: "file", mimeType: "application/pdf", name: "a.pdf" };
    const [message] = await inputOf([new HumanMessage({ content: contentOf("", [file]) })]);
    expect(message?.content).toEqual([
      { ...shownPicture, type: "file", mime_type: "application/pdf", metadata: { filename: "a.pdf" } },
    ]);
  });

  it.each([
    ["gone", async () => undefined],
    [
      "damaged",
      async () => {
        throw new LilyError("record_invalid", "not what its hash says");
      },
    ],
  ])("is told in words when its content is %s", async (_what, read) => {
    const messages = await toModelInput([withPicture("look")], { owner: "ada", blobs: { read } });
    expect(messages[0]?.content).toEqual([
      { type: "text", text: "look" },
      { type: "text", text: "[picture: image/png, 4 bytes] (its content is gone)" },
    ]);
  });

  it("is not given up because the storage is busy for a moment", async () => {
    const read = async () => {
      throw new LilyError("storage_busy", "busy");
    };
    await expect(
      toModelInput([withPicture("look")], { owner: "ada", blobs: { read } }),
    ).rejects.toMatchObject({
      code: "storage_busy",
    });
  });
});
