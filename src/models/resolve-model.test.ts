import { describe, expect, it } from "vitest";
import { defaultModelReference } from "./resolve-model.ts";

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
