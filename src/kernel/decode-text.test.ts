import { describe, expect, it } from "vitest";
import { decodeText } from "./decode-text.ts";

const utf16 = (text: string) => Buffer.from(text, "utf16le");

describe("bytes that come in", () => {
  it.each([
    ["UTF-8", Buffer.from("café")],
    ["UTF-8 with a mark", Buffer.from("\uFEFFcafé")],
    ["UTF-16LE by its mark", utf16("\uFEFFcafé")],
    ["UTF-16BE by its mark", Buffer.from(utf16("\uFEFFcafé")).swap16()],
  ])("are text in %s (F-4)", (_what, bytes) => {
    expect(decodeText(bytes)).toEqual({ text: "café" });
  });

  it.each([
    ["Latin-1", Buffer.from("café", "latin1")],
    ["UTF-16 without a mark", utf16("cafe")],
    ["half a UTF-16 character", utf16("\uFEFFabc").subarray(0, 7)],
    ["a cut UTF-8 character", Buffer.from("猫").subarray(0, 2)],
  ])("are refused instead of stored as other letters: %s (F-4)", (_what, bytes) => {
    expect(decodeText(bytes).text).toBeUndefined();
    expect(decodeText(bytes).problem).toMatch(/^is no /u);
  });

  it("may hold a bell", () => {
    expect(decodeText(Buffer.from("\u0007hi"))).toEqual({ text: "\u0007hi" });
  });
});
