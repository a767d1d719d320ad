import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isLilyError } from "#src/kernel/errors.ts";
import {
  composeSessionKey,
  parseDeliveryId,
  parseOwner,
  parseSessionId,
  parseSessionKey,
} from "./session-key.ts";

/** Code and message of what `action` throws. */
function refusal(action: () => unknown): { code: string; message: string } | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    if (!isLilyError(error)) throw error;
    return { code: error.code, message: error.message };
  }
}

const ID = "0198d3c4-5b6a-7c7d-8e9f-0a1b2c3d4e5f";

describe.each([
  ["session key", parseSessionKey, "session_key_invalid"],
  ["delivery id", parseDeliveryId, "delivery_id_invalid"],
  ["owner", parseOwner, "session_key_invalid"],
] as const)("a %s", (what, parse, code) => {
  it.each([
    ["one character", "x"],
    ["1024 characters", "k".repeat(1024)],
    ["white space around it", " key "],
    ["separators and wildcards", "a:b.c/d%e_f=g\\h"],
    ["other scripts and emoji", "חדר-房间-ห้อง-😀"],
    ["decomposed accents", "e\u0301"],
    ["a name that objects have", "__proto__"],
  ])("is given back unchanged with %s", (_with, value) => {
    expect(parse(value)).toBe(value);
  });

  it.each<[string, unknown, string]>([
    ["nothing", "", "is blank"],
    ["white space", " \u00a0\u3000", "is blank"],
    ["1025 characters", "k".repeat(1025), "has 1025 characters"],
    ["513 emoji, which are 1026 code units", "😀".repeat(513), "has 1026 characters"],
    ["a line end", "a\nb", "control characters"],
    ["NUL", "a\u0000", "control characters"],
    ["delete", "a\u007f", "control characters"],
    ["a C1 control", "a\u0085b", "control characters"],
    ["half of a surrogate pair", "a\ud83d", "half of a surrogate pair"],
    ["undefined", undefined, "is undefined"],
    ["null", null, "is null"],
    ["a number", 42, "is number"],
    ["a list", ["a"], "is object"],
    ["a boxed string", Object("a"), "is object"],
  ])("cannot be %s", (_what, value, problem) => {
    const found = refusal(() => parse(value));
    expect(found?.code).toBe(code);
    expect(found?.message).toContain(`is not a ${what}`);
    expect(found?.message).toContain(problem);
  });

  it("is shown cut short and well formed when it is refused", () => {
    const message = refusal(() => parse(`${"a".repeat(39)}😀${"b".repeat(2000)}`))?.message ?? "";
    expect(message.length).toBeLessThan(160);
    expect(message.isWellFormed()).toBe(true);
  });

  it("is given back as it is, or refused with its code, for any value", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.anything()), (value) => {
        const found = refusal(() => parse(value));
        if (found === undefined) expect(parse(value)).toBe(value);
        else expect(found.code).toBe(code);
      }),
    );
  });
});

describe("a session id", () => {
  it("is given back in lower case", () => {
    expect(parseSessionId(ID.toUpperCase())).toBe(ID);
  });

  it.each<[string, unknown]>([
    ["an ordinal", "2"],
    ["nothing", ""],
    ["part of a UUID", ID.slice(0, 8)],
    ["a UUID with white space", `${ID} `],
    ["a number", 7],
    ["null", null],
    ["undefined", undefined],
    ["an object", { toString: () => ID }],
  ])("cannot be %s", (_what, value) => {
    expect(refusal(() => parseSessionId(value))?.code).toBe("session_id_invalid");
  });
});

describe("a session key made of parts", () => {
  it("reads as the parts joined with colons", () => {
    expect(composeSessionKey(["telegram", "dm", "42"])).toBe("telegram:dm:42");
  });

  it("escapes separators inside a part", () => {
    expect(composeSessionKey(["irc", "a:b", "c\\d"])).toBe("irc:a\\:b:c\\\\d");
  });

  it("is different for different parts", () => {
    const parts = fc.array(fc.string({ unit: fc.constantFrom("a", ":", "\\", "é") }), {
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(parts, parts, (a, b) => {
        fc.pre(JSON.stringify(a) !== JSON.stringify(b));
        fc.pre(a.join("") !== "" && b.join("") !== "");
        expect(composeSessionKey(a)).not.toBe(composeSessionKey(b));
      }),
    );
  });

  it.each([
    ["there are no parts", []],
    ["its only part is empty", [""]],
    ["a part has a line end", ["a", "b\nc"]],
    ["it gets too long by escaping", [":".repeat(600)]],
  ])("is refused when %s", (_when, parts) => {
    expect(refusal(() => composeSessionKey(parts))?.code).toBe("session_key_invalid");
  });
});
