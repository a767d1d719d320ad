import { describe, expect, it } from "vitest";
import { parseEmbedderReference, printEmbedderReference } from "./embedder-reference.ts";

describe("parseEmbedderReference", () => {
  it.each([
    ["none", { provider: "none" }],
    [" None ", { provider: "none" }],
    ["openai:text-embedding-3-small", { provider: "openai", model: "text-embedding-3-small" }],
    ["OpenAI: nomic-embed-text:v1.5", { provider: "openai", model: "nomic-embed-text:v1.5" }],
    ["local:use-lite", { provider: "local", model: "use-lite" }],
    ["local:USE-Lite", { provider: "local", model: "use-lite" }],
  ])("reads %j", (text, reference) => {
    const parsed = parseEmbedderReference(text);
    expect(parsed).toEqual(reference);
    expect(parseEmbedderReference(printEmbedderReference(parsed))).toEqual(parsed);
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
    expect(() => parseEmbedderReference(text)).toThrow(
      expect.objectContaining({
        code: "model_unknown",
        next: expect.stringContaining("openai:<model>") as unknown,
      }),
    );
  });
});
