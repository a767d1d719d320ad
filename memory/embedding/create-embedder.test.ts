import { describe, expect, it } from "vitest";
import { createEmbedder, embedderReference } from "./create-embedder.ts";

describe("embedderReference", () => {
  it.each([
    ["none", "none"],
    [" None ", "none"],
    ["openai:text-embedding-3-small", "openai:text-embedding-3-small"],
    ["OpenAI: nomic-embed-text:v1.5", "openai:nomic-embed-text:v1.5"],
    ["local:USE-Lite", "local:use-lite"],
  ])("reads %j as %j, which reads back as the same", (text, reference) => {
    expect(embedderReference(text)).toBe(reference);
    expect(embedderReference(reference)).toBe(reference);
  });

  it.each([
    "",
    "openai",
    "openai:",
    "none:x",
    "local:",
    "local:bert",
    "cohere:x",
    "a\u0000b",
    `openai:${"x".repeat(200)}`,
  ])("refuses %j and says what can be written", (text) => {
    expect(() => embedderReference(text)).toThrow(
      expect.objectContaining({
        code: "model_unknown",
        next: expect.stringContaining("openai:<model>") as unknown,
      }),
    );
  });
});

describe("createEmbedder", () => {
  const server = { baseURL: "http://127.0.0.1:9/v1" };

  it.each([
    ["none", undefined],
    ["openai:nomic", "openai:nomic"],
    ["local:use-lite", "local:use-lite"],
  ])("makes of %j the embedder %j, without asking or loading anything", (reference, model) => {
    expect(createEmbedder(reference, server)?.model).toBe(model);
  });

  it("wants a server for openai", () => {
    expect(() => createEmbedder("openai:x", {})).toThrow(expect.objectContaining({ code: "config_invalid" }));
  });
});
