import { ToolMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { sha256Of } from "#src/sessions/seal.ts";
import { outputParts } from "./tool-output.ts";

const PNG = Uint8Array.from([137, 80, 78, 71]);
const DATA = Buffer.from(PNG).toString("base64");
const picture = {
  attachment: { kind: "image", mimeType: "image/png", sha256: sha256Of(PNG), bytes: 4 },
  bytes: PNG,
};
const text = (value: string) => ({ text: value });
const block = (value: string) => ({ type: "text", text: value });
const image = { type: "image", mimeType: "image/png", data: DATA };

const loop = () => {
  const value: Record<string, unknown> = { a: 1 };
  value["me"] = value;
  return value;
};
const bare = () => Object.assign(Object.create(null) as object, { a: 1 });

describe("the output of a tool", () => {
  it.each<[string, unknown, unknown[]]>([
    ["a string", "found", [text("found")]],
    ["an empty string", "", [text("")]],
    ["nothing", undefined, [text("")]],
    ["null", null, [text("null")]],
    ["a message of LangChain's", new ToolMessage({ content: "found", tool_call_id: "c" }), [text("found")]],
    ["an object", { a: [1] }, [text('{"a":[1]}')]],
    ["what cannot be made JSON", loop(), [text("[object Object]")]],
    ["an object without a prototype", bare(), [text('{"a":1}')]],
    ["a bigint", 5n, [text("5")]],
    ["a list of strings", ["a", "b"], [text('["a","b"]')]],
    ["an empty list", [], [text("[]")]],
    ["a list of things that have a type", [{ type: "circle", r: 1 }], [text('[{"type":"circle","r":1}]')]],
    ["blocks of text", [block("a"), block("b")], [text("a"), text("b")]],
    ["a picture beside text", [block("a"), image], [text("a"), picture]],
    [
      "an address of a picture",
      [{ type: "image", url: "https://example.org/a" }],
      [text("[picture: https://example.org/a]")],
    ],
    ["halves of surrogate pairs and NUL", "a\ud800b\u0000c", [text("a\ufffdb\u2400c")]],
    ["bytes that are none", new Uint8Array(0), [text("")]],
  ])("is read when it is %s", (_what, value, parts) => {
    expect(outputParts(value, 10)).toEqual(parts);
  });

  it("is a file when it is bytes", () => {
    const attachment = {
      kind: "file",
      mimeType: "application/octet-stream",
      sha256: sha256Of(PNG),
      bytes: 4,
    };
    expect(outputParts(PNG, 10)).toEqual([{ attachment, bytes: PNG }]);
  });

  it("is told by its size alone when it is longer than what is kept", () => {
    const part = { type: "image", mimeType: "image/png", data: Buffer.alloc(11).toString("base64") };
    expect(outputParts([block("a"), part], 10)).toEqual([
      text("a"),
      text("[not kept: part 2 of the message has 11 bytes; the limit is 10]"),
    ]);
    expect(outputParts(new Uint8Array(11), 10)).toEqual([
      text("[not kept: a file of 11 bytes; the limit is 10 bytes]"),
    ]);
  });
});
