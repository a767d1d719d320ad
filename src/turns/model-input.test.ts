import {
  AIMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  type BaseMessage,
} from "@langchain/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MISSING_RESULT } from "#src/context/repair-messages.ts";
import { LilyError } from "#src/kernel/errors.ts";
import type { Attachment } from "#src/sessions/attachment.ts";
import { sha256Of } from "#src/sessions/blobs.ts";
import { contentOf } from "./attachment-blocks.ts";
import { joinSound, soundMessages, toModelInput } from "./model-input.ts";

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
const inputOf = async (messages: BaseMessage[]) => (await toModelInput(messages, attached)).messages;
const asks = (id?: string, args: Record<string, unknown> = {}) =>
  new AIMessage({
    content: "",
    tool_calls: [{ name: "find", args, type: "tool_call", ...(id === undefined ? {} : { id }) }],
  });
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
    expect(input.messages.every((message, index) => message === messages[index])).toBe(true);
    expect(input.repairs).toEqual({});
  });

  it("answers calls that could not be read, so that none stays open", async () => {
    const broken = new AIMessage({
      content: "",
      invalid_tool_calls: [{ id: "c1", name: "find", args: "{broken", type: "invalid_tool_call" }],
    });
    const [asked, answered] = await inputOf([broken, result("c1", "the arguments were not valid JSON")]);
    expect(asked).toMatchObject({
      tool_calls: [{ id: "c1", name: "find", args: {} }],
      invalid_tool_calls: [],
    });
    expect(answered).toMatchObject({ tool_call_id: "c1", content: "the arguments were not valid JSON" });
  });

  it("sends no raw call beside the parsed ones", async () => {
    const message = new AIMessage("x");
    message.additional_kwargs = {
      tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{" } }],
    };
    expect((await inputOf([message]))[0]?.additional_kwargs).toEqual({});
  });

  it("gives a call without an id the id that its result has", async () => {
    const [asked, answered] = await inputOf([asks(), result("call-1")]);
    expect(asked).toMatchObject({ tool_calls: [{ id: "call-1" }] });
    expect(answered).toMatchObject({ tool_call_id: "call-1" });
  });

  it("tells apart calls that a server numbers anew in each answer", async () => {
    const input = await inputOf([
      asks("call-1"),
      result("call-1", "x"),
      asks("call-1"),
      result("call-1", "y"),
    ]);
    expect(input[2]).toMatchObject({ tool_calls: [{ id: "call-1-2" }] });
    expect(input[3]).toMatchObject({ tool_call_id: "call-1-2", content: "y" });
  });

  it("closes an open call and says so", async () => {
    const { messages, repairs } = await toModelInput([asks("c1"), new HumanMessage("hello?")], attached);
    expect(messages[1]).toMatchObject({ tool_call_id: "c1", content: MISSING_RESULT });
    expect(repairs).toEqual({ missing_result_added: 1 });
  });

  it("has no half of a surrogate pair, also not in arguments", async () => {
    const [asked] = await inputOf([asks("c1", { note: "caf\ud83d" }), result("c1")]);
    expect(asked).toMatchObject({ tool_calls: [{ args: { note: "caf\ufffd" } }] });
  });

  it("leaves out a blank block of text beside a call", async () => {
    const message = new AIMessage({
      content: [{ type: "text", text: " \n" }],
      tool_calls: [{ id: "c1", name: "find", args: {}, type: "tool_call" }],
    });
    expect((await inputOf([message, result("c1")]))[0]?.content).toBe("");
  });

  it("sends of a user message only text and what is stored", async () => {
    const message = new HumanMessage({
      content: [
        { type: "text", text: "look" },
        { type: "video", data: "AAAA" },
      ],
    });
    expect((await inputOf([message]))[0]?.content).toBe("look");
  });

  it("keeps the id of what it repairs", async () => {
    const message = new HumanMessage({ content: "a\ud800", id: "u1" });
    expect((await inputOf([message]))[0]).toMatchObject({ content: "a\ufffd", id: "u1" });
  });
});

describe("what is known to be sound", () => {
  const text = fc.constantFrom("hello", "well", " ", "half \ud83d");
  const callId = fc.constantFrom("c1", "c2", "c3", undefined);
  const message = fc.oneof(
    { weight: 3, arbitrary: text.map((content): BaseMessage => new HumanMessage(content)) },
    { weight: 3, arbitrary: text.map((content): BaseMessage => new AIMessage(content)) },
    callId.map((id): BaseMessage => asks(id)),
    fc.constantFrom("c1", "c2", "c3").map((id): BaseMessage => result(id)),
    fc.constant(withPicture("look")),
  );
  /** What a turn that went well leaves. */
  const good = fc
    .constantFrom("c1", "c2", "c3", "c4")
    .map((id) => [new HumanMessage("find"), asks(id), result(id)]);
  const turn = fc.oneof(fc.array(message, { maxLength: 4 }), good);
  const told = (messages: readonly BaseMessage[]) => messages.map((one) => one.toDict());

  it("is sent as it would be if it were looked at again, whatever comes behind it", async () => {
    let sound = 0;
    const property = fc.asyncProperty(fc.array(turn, { maxLength: 3 }), turn, async (turns, inFlight) => {
      const before = joinSound(turns.map(soundMessages));
      if (before === undefined) return;
      sound += 1;
      const whole = await toModelInput([...before.messages, ...inFlight], attached);
      const apart = await toModelInput(inFlight, attached, before);
      expect(told(apart.messages)).toEqual(told(whole.messages));
    });
    await fc.assert(property, { numRuns: 500 });
    expect(sound).toBeGreaterThan(50);
  });

  it("shares no id with a call that gets another one", async () => {
    const before = soundMessages([new HumanMessage("find"), asks("c-2"), result("c-2")]);
    const twice = [new HumanMessage("again"), asks("c"), result("c"), asks("c"), result("c")];
    const { messages } = await toModelInput(twice, attached, before);
    const calls = messages.flatMap((one) => (AIMessage.isInstance(one) ? (one.tool_calls ?? []) : []));
    expect(calls.map(({ id }) => id)).toEqual(["c-2", "c", "c-3"]);
  });

  it("is nothing that has to be repaired or resolved, and no two calls of one id", () => {
    const whole = [new HumanMessage("find"), asks("c1"), result("c1"), new AIMessage("there")];
    expect(soundMessages(whole)).toEqual({ messages: whole, callIds: ["c1"] });
    expect(soundMessages([asks("c1")])).toBeUndefined();
    expect(soundMessages([new AIMessage(" ")])).toBeUndefined();
    expect(soundMessages([withPicture("look")])).toBeUndefined();
    const part = soundMessages(whole);
    expect(joinSound([part, soundMessages([new HumanMessage("next")])])?.messages).toHaveLength(5);
    expect(joinSound([part, part])).toBeUndefined();
    expect(joinSound([part, undefined])).toBeUndefined();
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
    const { messages } = await toModelInput([withPicture("look")], { owner: "ada", blobs: { read } });
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
