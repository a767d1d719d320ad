import {
  AIMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  type BaseMessage,
} from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { LilyError } from "#src/kernel/errors.ts";
import type { Attachment } from "#src/sessions/attachment.ts";
import { sha256Of } from "#src/sessions/blobs.ts";
import { contentOf } from "./attachment-blocks.ts";
import { toModelInput } from "./model-input.ts";

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
