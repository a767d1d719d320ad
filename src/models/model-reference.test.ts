import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isLilyError } from "#src/kernel/errors.ts";
import {
  MAX_REFERENCE_LENGTH,
  namesProvider,
  parseModelReference,
  printModelReference,
} from "./model-reference.ts";

describe("parseModelReference", () => {
  it.each([
    ["symbolic", { provider: "symbolic" }],
    [" Symbolic ", { provider: "symbolic" }],
    ["gpt-4o-mini", { provider: "openai", model: "gpt-4o-mini" }],
    ["openai:gpt-4o-mini", { provider: "openai", model: "gpt-4o-mini" }],
    ["OpenAI: gpt-4o", { provider: "openai", model: "gpt-4o" }],
    ["openai:llama3.1:8b", { provider: "openai", model: "llama3.1:8b" }],
    ["openai:symbolic", { provider: "openai", model: "symbolic" }],
    ["openai:openai:x", { provider: "openai", model: "openai:x" }],
    ["org/Model-7B@q4", { provider: "openai", model: "org/Model-7B@q4" }],
    ["scripted:echo", { provider: "scripted", model: "echo" }],
  ])("reads %j", (text, expected) => {
    expect(parseModelReference(text)).toEqual(expected);
  });

  it.each([
    [""],
    ["   "],
    ["openai:"],
    ["openai: "],
    ["symbolic:fast"],
    [":gpt-4o"],
    ["foo:bar"],
    ["anthropic:claude"],
    ["llama3.1:8b"],
    ["gpt\u0000-4o"],
    ["openai:gpt\n4o"],
    ["gpt-\uD800"],
    ["x".repeat(MAX_REFERENCE_LENGTH + 1)],
  ])("refuses %j as model_unknown, with a way out", (text) => {
    const error = thrownBy(() => parseModelReference(text));
    expect(isLilyError(error) && error.code).toBe("model_unknown");
    expect(isLilyError(error) && error.next).toBeTruthy();
  });

  it("takes a reference of the greatest length", () => {
    expect(parseModelReference("x".repeat(MAX_REFERENCE_LENGTH)).provider).toBe("openai");
  });

  it("tells how to write a model name that holds a colon", () => {
    expect(thrownBy(() => parseModelReference("llama3.1:8b"))).toMatchObject({
      next: expect.stringContaining("openai:llama3.1:8b") as unknown,
    });
  });

  it("reads back what printModelReference wrote", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 80, unit: "grapheme" }), (model) => {
        fc.pre(model.trim() === model && !/\p{Cc}/u.test(model) && model.isWellFormed());
        const reference = { provider: "openai", model } as const;
        expect(parseModelReference(printModelReference(reference))).toEqual(reference);
      }),
    );
    expect(printModelReference({ provider: "symbolic" })).toBe("symbolic");
  });
});

describe("namesProvider", () => {
  it.each([
    ["openai:x", true],
    ["Scripted:x", true],
    ["symbolic", true],
    ["openai", false],
    ["gpt-4o", false],
    ["llama3.1:8b", false],
  ])("says of %j: %s", (text, expected) => {
    expect(namesProvider(text)).toBe(expected);
  });
});

function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}
