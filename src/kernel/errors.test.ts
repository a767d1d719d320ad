import { describe, expect, it } from "vitest";
import { ERROR_CODES, errorMessage, isLilyError, LilyError } from "./errors.ts";

describe("the table of error codes", () => {
  it.each(Object.entries(ERROR_CODES))(
    "has a failing status and exit code for %s",
    (_code, { http, exit }) => {
      expect(http).toBeGreaterThanOrEqual(400);
      expect(http).toBeLessThan(600);
      expect(exit).toBeGreaterThan(0);
      expect(exit).toBeLessThan(256);
    },
  );

  it("names codes in lower snake case", () => {
    expect(Object.keys(ERROR_CODES).filter((code) => !/^[a-z]+(?:_[a-z]+)*$/u.test(code))).toEqual([]);
  });
});

describe("a LilyError", () => {
  it("is an Error with code, fact and way out", () => {
    const error = new LilyError("storage_full", "the disk is full", { next: "Make room." });
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ name: "LilyError", code: "storage_full", next: "Make room." });
    expect(String(error)).toBe("LilyError: the disk is full");
  });

  it("keeps what caused it, and has no cause when there is none", () => {
    const cause = new Error("EIO");
    expect(new LilyError("storage_failed", "x", { cause }).cause).toBe(cause);
    expect("cause" in new LilyError("storage_failed", "x")).toBe(false);
  });

  it("is known by name and code, so that another copy of the module is understood", () => {
    const foreign = Object.assign(new Error("x"), { name: "LilyError", code: "internal" });
    expect(isLilyError(foreign)).toBe(true);
  });

  it.each<[string, unknown]>([
    ["an Error", new Error("x")],
    ["a system error with a code", Object.assign(new Error("x"), { code: "ENOENT" })],
    ["an error of that name without a code", Object.assign(new Error("x"), { name: "LilyError" })],
    ["an object that only looks like one", { name: "LilyError", code: "internal", message: "x" }],
    ["null", null],
    ["undefined", undefined],
    ["a text", "LilyError"],
  ])("is not %s", (_what, value) => {
    expect(isLilyError(value)).toBe(false);
  });
});

describe("the text of what was thrown", () => {
  it.each<[string, unknown, string]>([
    ["an error", new RangeError("too far"), "too far"],
    ["a text", "no", "no"],
    ["a number", 7, "7"],
    ["null", null, "null"],
    ["a symbol", Symbol("s"), "Symbol(s)"],
    ["an object with a text of its own", { toString: () => "own text" }, "own text"],
  ])("is readable for %s", (_what, thrown, text) => {
    expect(errorMessage(thrown)).toBe(text);
  });
});
