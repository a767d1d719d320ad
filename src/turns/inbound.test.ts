import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isLilyError } from "#src/kernel/errors.ts";
import { parseInboundText } from "./inbound.ts";

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
        const text = parseInboundText(sent, limit);
        expect(text.trim()).not.toBe("");
        expect(text.length).toBeLessThanOrEqual(limit);
        expect(text.isWellFormed()).toBe(true);
        expect(text).not.toContain("\u0000");
      }),
    );
  });
});
