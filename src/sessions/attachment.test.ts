import { describe, expect, it } from "vitest";
import { attachmentId, attachmentSchema, attachmentText, type Attachment } from "./message.ts";

const SHA = "a".repeat(64);
const picture: Attachment = { kind: "image", mimeType: "image/png", sha256: SHA, bytes: 12_345 };
const link: Attachment = { kind: "image", url: "https://example.org/cat.png" };

describe("an attachment", () => {
  it.each<[string, Attachment, string]>([
    ["a picture with type and size", picture, "[picture: image/png, 12 kB]"],
    ["a small one in bytes", { ...picture, bytes: 999 }, "[picture: image/png, 999 bytes]"],
    ["a big one in megabytes", { ...picture, bytes: 2_097_152 }, "[picture: image/png, 2.1 MB]"],
    [
      "a file with its name",
      { ...picture, kind: "file", name: "a.pdf", mimeType: "application/pdf" },
      "[file: a.pdf, application/pdf, 12 kB]",
    ],
    ["a recording", { ...picture, kind: "audio", mimeType: "audio/wav" }, "[recording: audio/wav, 12 kB]"],
    ["an address", link, "[picture: https://example.org/cat.png]"],
    ["a long address, cut", { ...link, url: "x".repeat(200) }, `[picture: ${"x".repeat(120)}…]`],
  ])("is told as %s", (_what, attachment, text) => {
    expect(attachmentText(attachment)).toBe(text);
  });

  it("is another one with other bytes or another address, and the same under another name", () => {
    expect(attachmentId(picture)).not.toBe(attachmentId({ ...picture, sha256: "b".repeat(64) }));
    expect(attachmentId(link)).not.toBe(attachmentId({ ...link, url: "https://example.org/dog.png" }));
    expect(attachmentId(picture)).toBe(attachmentId({ ...picture, name: "cat.png" }));
  });

  it("is not taken with a hash that is none", () => {
    expect(attachmentSchema.safeParse({ ...picture, sha256: "../chain" }).success).toBe(false);
    expect(attachmentSchema.safeParse(picture).success).toBe(true);
    expect(attachmentSchema.safeParse(link).success).toBe(true);
  });
});
