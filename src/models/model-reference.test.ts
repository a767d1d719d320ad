import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isLilyError } from "#src/kernel/errors.ts";
import {
  defaultModelReference,
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

describe("defaultModelReference", () => {
  it.each([
    ["nothing is set", {}, undefined, "symbolic"],
    ["variables are blank", { OPENAI_API_KEY: "", OPENAI_BASE_URL: " " }, undefined, "symbolic"],
    ["only a model is named, and no server", { LILY_MODEL: "gpt-4o" }, undefined, "symbolic"],
    ["a key is set", { OPENAI_API_KEY: "sk-x" }, undefined, "openai:gpt-4o-mini"],
    [
      "only a base URL is set",
      { OPENAI_BASE_URL: "http://localhost:11434/v1" },
      undefined,
      "openai:gpt-4o-mini",
    ],
    [
      "OPENAI_MODEL is set",
      { OPENAI_API_KEY: "k", OPENAI_MODEL: "llama3.1:8b" },
      undefined,
      "openai:llama3.1:8b",
    ],
    [
      "LILY_MODEL is set too",
      { OPENAI_API_KEY: "k", LILY_MODEL: "a", OPENAI_MODEL: "b" },
      undefined,
      "openai:a",
    ],
    [
      "LILY_MODEL is blank",
      { OPENAI_API_KEY: "k", LILY_MODEL: "", OPENAI_MODEL: "b" },
      undefined,
      "openai:b",
    ],
    ["LILY_MODEL has its provider", { OPENAI_API_KEY: "k", LILY_MODEL: "openai:a" }, undefined, "openai:a"],
    ["LILY_MODEL holds a tag", { OPENAI_API_KEY: "k", LILY_MODEL: "qwen3:4b" }, undefined, "openai:qwen3:4b"],
    ["LILY_MODEL is symbolic", { OPENAI_API_KEY: "k", LILY_MODEL: "symbolic" }, undefined, "symbolic"],
    ["one is configured", { OPENAI_API_KEY: "k", LILY_MODEL: "a" }, "gpt-4o", "openai:gpt-4o"],
    ["symbolic is configured", { OPENAI_API_KEY: "k" }, "symbolic", "symbolic"],
    ["a blank one is configured", { OPENAI_API_KEY: "k" }, " ", "openai:gpt-4o-mini"],
  ])("when %s", (_when, env, configured, expected) => {
    expect(defaultModelReference(env, configured)).toBe(expected);
  });

  it("refuses a configured reference of an unknown provider", () => {
    expect(() => defaultModelReference({}, "foo:bar")).toThrow(/provider/u);
  });
});
