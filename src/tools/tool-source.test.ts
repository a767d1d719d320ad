import { tool } from "@langchain/core/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { OWN_READS, sourceMetadata, toolSource } from "./tool-source.ts";

const made = (metadata?: Record<string, unknown>) =>
  tool(() => "", { name: "look", description: "", schema: z.object({}), ...(metadata && { metadata }) });

describe("the source of a tool", () => {
  it("is what its maker put into its metadata", () => {
    const source = {
      from: "server",
      server: "files",
      tool: "read",
      annotations: { readOnlyHint: true },
    } as const;
    expect(toolSource(made(sourceMetadata(source)))).toEqual(source);
    expect(toolSource(made(OWN_READS))).toMatchObject({ from: "lily", annotations: { readOnlyHint: true } });
  });

  it("is the program where nothing is said, with the hints of a tool that LangChain's adapters made", () => {
    expect(toolSource(made())).toEqual({ from: "program", annotations: {} });
    const ofAdapters = made({ annotations: { readOnlyHint: true, destructiveHint: "no", other: 1 } });
    expect(toolSource(ofAdapters)).toEqual({ from: "program", annotations: { readOnlyHint: true } });
  });

  it("is told even of metadata that make no sense", () => {
    expect(toolSource(made({ origin: "mine", annotations: 7 }))).toEqual({
      from: "program",
      annotations: {},
    });
  });
});
