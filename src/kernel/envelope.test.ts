import { describe, expect, it } from "vitest";
import { done, envelopeOf, envelopeSchema, exitCodeOf, refused } from "./envelope.ts";
import { ERROR_CODES, LilyError } from "./errors.ts";

describe("an envelope of something that was done", () => {
  it("is ok and has no empty fields", () => {
    expect(done("title_set", "It is called x.")).toStrictEqual({
      ok: true,
      code: "title_set",
      message: "It is called x.",
    });
  });

  it("carries data and what to do next", () => {
    expect(done("title", "x", { data: { title: null }, next: "y" })).toStrictEqual({
      ok: true,
      code: "title",
      message: "x",
      data: { title: null },
      next: "y",
    });
  });

  it("ends a command-line call with 0, even under a name that is an error code too", () => {
    expect(exitCodeOf(done("internal", "x"))).toBe(0);
  });
});

describe("an envelope of a refusal", () => {
  it("is not ok", () => {
    expect(refused("message_blank", "the message is blank").ok).toBe(false);
  });

  it.each(Object.entries(ERROR_CODES))("ends a command-line call by the table for %s", (code, { exit }) => {
    expect(exitCodeOf({ ok: false, code, message: "" })).toBe(exit);
  });

  it("ends a command-line call with 70 when its code is not in the table", () => {
    expect(exitCodeOf({ ok: false, code: "from_a_newer_server", message: "" })).toBe(70);
  });
});

describe("the envelope of what was thrown", () => {
  it("has code, message and way out of a LilyError", () => {
    const error = new LilyError("session_not_found", "no session 9", { next: "/sessions lists them." });
    expect(envelopeOf(error)).toStrictEqual({
      ok: false,
      code: "session_not_found",
      message: "no session 9",
      next: "/sessions lists them.",
    });
  });

  it("has no way out when the error has none", () => {
    expect(envelopeOf(new LilyError("internal", "x"))).not.toHaveProperty("next");
  });

  it.each<[string, unknown, string]>([
    ["an error", new TypeError("x is not a function"), "x is not a function"],
    ["a text", "plain text", "plain text"],
    ["null", null, "null"],
    ["undefined", undefined, "undefined"],
    ["a symbol", Symbol("s"), "Symbol(s)"],
  ])("reports %s as the fallback", (_what, thrown, message) => {
    expect(envelopeOf(thrown)).toStrictEqual({ ok: false, code: "internal", message });
    expect(envelopeOf(thrown, "turn_failed").code).toBe("turn_failed");
  });

  it("is JSON that the schema reads back", () => {
    const envelope = envelopeOf(
      new LilyError("storage_busy", "locked", { next: "Again.", cause: new Error() }),
    );
    expect(envelopeSchema.parse(JSON.parse(JSON.stringify(envelope)))).toEqual(envelope);
  });
});
