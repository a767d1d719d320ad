import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isLilyError } from "#src/kernel/errors.ts";
import { sha256Of } from "#src/sessions/seal.ts";
import { contentOf } from "./langchain-messages.ts";
import { parseInbound } from "./inbound.ts";

const parseInboundText = (content: unknown, limit: number): string =>
  parseInbound(content, { messageCharacters: limit, attachmentBytes: 10 }).text;

function refusal(content: unknown, limit = 100): { code: string; message: string } | undefined {
  try {
    parseInboundText(content, limit);
    return undefined;
  } catch (error) {
    if (!isLilyError(error)) throw error;
    return { code: error.code, message: error.message };
  }
}

const part = (text: string) => ({ type: "text", text });

describe("the text of an inbound message", () => {
  it.each<[string, unknown, string]>([
    ["a string as it is, white space included", "  hi\n", "  hi\n"],
    ["parts of text, one a line", [part("one"), part("two")], "one\ntwo"],
    ["one part", [part("one")], "one"],
    ["blank parts beside one that is not", [part(""), part("x")], "\nx"],
    ["text with half of a surrogate pair and NUL, made storable", "a\ud800\u0000", "a\ufffd\u2400"],
  ])("is %s", (_what, content, text) => {
    expect(parseInboundText(content, 100)).toBe(text);
  });

  it("takes a text at the limit and refuses one that is a character longer, with both numbers", () => {
    expect(parseInboundText("x".repeat(100), 100)).toHaveLength(100);
    expect(refusal("x".repeat(101))).toEqual({
      code: "message_too_large",
      message: "the message has 101 characters; the limit is 100",
    });
  });

  it("counts the lines between parts and both halves of an emoji", () => {
    expect(refusal([part("x".repeat(50)), part("x".repeat(50))])?.code).toBe("message_too_large");
    expect(refusal("😀".repeat(51))?.code).toBe("message_too_large");
  });

  it.each<[string, unknown]>([
    ["nothing", ""],
    ["white space of all kinds", " \t\n\u00a0\u3000\ufeff"],
    ["no parts", []],
    ["blank parts", [part(" "), part("\n")]],
  ])("is refused as blank when it is %s", (_what, content) => {
    expect(refusal(content)?.code).toBe("message_blank");
  });

  it.each<[string, unknown, string]>([
    ["null", null, "null"],
    ["undefined", undefined, "undefined"],
    ["a number", 5, "number"],
    ["an object", { text: "x" }, "object"],
    ["a picture", [part("x"), { type: "image_url", image_url: "data:" }], "part 2"],
    ["a part that is null", [null], "part 1"],
    ["a part that is undefined", [undefined], "part 1"],
    ["a part whose text is no text", [{ type: "text", text: 5 }], "part 1"],
    ["a part of text without one", [{ type: "text" }], "part 1"],
    ["a part of another type that has text", [{ type: "reasoning", text: "x" }], "part 1"],
    ["a list in a list", [[part("x")]], "part 1"],
  ])("is refused when it is %s", (_what, content, told) => {
    const found = refusal(content);
    expect(found?.code).toBe("message_invalid");
    expect(found?.message).toContain(told);
  });

  it("is never blank, too long or unstorable when it is taken, whatever is sent", () => {
    const content = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(fc.oneof(fc.string().map(part), fc.anything())),
      fc.anything(),
    );
    fc.assert(
      fc.property(content, fc.integer({ min: 0, max: 20 }), (sent, limit) => {
        if (refusal(sent, limit) !== undefined) return;
        const { text, attachments } = parseInbound(sent, { messageCharacters: limit, attachmentBytes: 10 });
        expect(text.trim() !== "" || attachments.length > 0).toBe(true);
        expect(text.length).toBeLessThanOrEqual(limit);
        expect(text.isWellFormed()).toBe(true);
        expect(text).not.toContain("\u0000");
      }),
    );
  });
});

const PNG = Uint8Array.from([137, 80, 78, 71]);
const DATA = Buffer.from(PNG).toString("base64");
const DATA_URL = `data:image/png;base64,${DATA}`;
const kept = { kind: "image", mimeType: "image/png", sha256: sha256Of(PNG), bytes: 4 } as const;
const LIMITS = { messageCharacters: 100, attachmentBytes: 10 };

function refusedParts(content: unknown): { code: string; message: string } | undefined {
  try {
    parseInbound(content, LIMITS);
    return undefined;
  } catch (error) {
    if (!isLilyError(error)) throw error;
    return { code: error.code, message: error.message };
  }
}

describe("a picture or file in a message", () => {
  it.each<[string, unknown]>([
    ["OpenAI's form", { type: "image_url", image_url: { url: DATA_URL, detail: "low" } }],
    ["OpenAI's short form", { type: "image_url", image_url: DATA_URL }],
    ["LangChain's block", { type: "image", mimeType: "image/png", data: DATA }],
    ["LangChain's block with bytes", { type: "image", mimeType: "image/png", data: PNG }],
    [
      "LangChain's earlier block",
      { type: "image", source_type: "base64", mime_type: "IMAGE/PNG", data: DATA },
    ],
    ["a block with a data: address", { type: "image", url: DATA_URL }],
  ])("is read in %s", (_form, sent) => {
    const { text, attachments } = parseInbound([part("look"), sent], LIMITS);
    expect(text).toBe("look");
    expect(attachments).toEqual([{ attachment: kept, bytes: PNG }]);
  });

  it.each<[string, unknown, object]>([
    [
      "a recording",
      { type: "input_audio", input_audio: { data: DATA, format: "wav" } },
      { kind: "audio", mimeType: "audio/wav" },
    ],
    [
      "a file of OpenAI's form",
      { type: "file", file: { file_data: `data:application/pdf;base64,${DATA}`, filename: "a.pdf" } },
      { kind: "file", mimeType: "application/pdf", name: "a.pdf" },
    ],
    [
      "a file of LangChain's form",
      { type: "file", mimeType: "text/plain", data: DATA, metadata: { filename: "a\ud800.txt" } },
      { kind: "file", mimeType: "text/plain", name: "a\ufffd.txt" },
    ],
  ])("may be %s", (_what, sent, attachment) => {
    expect(parseInbound([sent], LIMITS).attachments[0]?.attachment).toMatchObject(attachment);
  });

  it("needs no text beside it", () => {
    const image = { type: "image", mimeType: "image/png", data: DATA };
    expect(parseInbound([image], LIMITS).text).toBe("");
    expect(parseInbound([part(" \n"), image], LIMITS).text).toBe("");
  });

  it("is kept as an address when it is one of the web", () => {
    const url = "https://example.org/cat.png";
    for (const sent of [
      { type: "image_url", image_url: { url } },
      { type: "image", source_type: "url", url },
      { type: "image", url },
    ])
      expect(parseInbound([sent], LIMITS).attachments).toEqual([{ attachment: { kind: "image", url } }]);
  });

  it("comes back from the form in which messages refer to it", () => {
    const link = { kind: "file", url: "https://example.org/a.pdf" } as const;
    const named = { ...kept, kind: "file", name: "a.png" } as const;
    const content = contentOf("look", [kept, named, link]);
    const { text, attachments } = parseInbound(content, LIMITS);
    expect(text).toBe("look");
    expect(attachments.map(({ attachment }) => attachment)).toEqual([kept, named, link]);
  });

  it.each<[string, unknown]>([
    ["an address that is no web address", { type: "image", url: "file:///etc/passwd" }],
    ["an address that is none", { type: "image_url", image_url: "cat.png" }],
    ["an endless address", { type: "image", url: `https://example.org/${"x".repeat(5_000)}` }],
    ["a data: address without base64", { type: "image", url: "data:image/svg+xml,<svg/>" }],
    ["content that is no base64", { type: "image", mimeType: "image/png", data: "ab$d" }],
    ["cut base64", { type: "image", mimeType: "image/png", data: DATA.slice(0, 7) }],
    ["no content", { type: "image", mimeType: "image/png", data: "" }],
    ["no type", { type: "image", data: DATA }],
    ["a type of another kind", { type: "image", mimeType: "audio/wav", data: DATA }],
    ["a type that is none", { type: "file", mimeType: "a b/c", data: DATA }],
    ["a moving picture", { type: "video", mimeType: "video/mp4", data: DATA }],
    ["neither content nor address", { type: "image", mimeType: "image/png" }],
    [
      "both content and address",
      { type: "image", mimeType: "image/png", data: DATA, url: "https://example.org/a" },
    ],
    [
      "a reference that leaves the namespace",
      { type: "image", mimeType: "image/png", fileId: "lily:sha256:../x", metadata: { bytes: 1 } },
    ],
  ])("is refused with its place when it is %s", (_what, sent) => {
    const found = refusedParts([part("look"), sent]);
    expect(found?.code).toBe("message_invalid");
    expect(found?.message).toContain("part 2 of the message");
  });

  it("may have as many bytes as the limit, alone and all together, and not one more", () => {
    const image = (bytes: number) => ({
      type: "image",
      mimeType: "image/png",
      data: Buffer.alloc(bytes).toString("base64"),
    });
    expect(refusedParts([image(10)])).toBeUndefined();
    expect(refusedParts([image(5), image(5)])).toBeUndefined();
    expect(refusedParts([image(11)])).toEqual({
      code: "message_too_large",
      message: "part 1 of the message has 11 bytes; the limit is 10",
    });
    expect(refusedParts([image(6), image(5)])).toEqual({
      code: "message_too_large",
      message: "the pictures and files of the message have 11 bytes; the limit is 10",
    });
    expect(refusedParts([image(1_000)])?.code).toBe("message_too_large");
  });

  it("is one of at most twenty", () => {
    const links = (count: number) =>
      Array.from({ length: count }, () => ({ type: "image", url: "https://example.org/a" }));
    expect(refusedParts(links(20))).toBeUndefined();
    expect(refusedParts(links(21))?.code).toBe("message_too_large");
  });
});
