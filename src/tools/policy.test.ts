import { tool } from "@langchain/core/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  OWN_READS,
  sourceMetadata,
  toolRule,
  toolSource,
  type ToolRule,
  type ToolRules,
  type ToolSource,
} from "./policy.ts";

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

const ofServer = (annotations: ToolSource["annotations"] = {}): ToolSource => ({
  from: "server",
  server: "files",
  tool: "write",
  annotations,
});
const ruleOf = (source: ToolSource, ...layers: ToolRules[]): ToolRule =>
  toolRule(layers, { name: "files_write", source });

describe("the rule of a tool", () => {
  it.each<[string, ToolSource, ToolRule]>([
    ["of a server that says nothing of it", ofServer(), "ask"],
    ["of a server that says it only reads", ofServer({ readOnlyHint: true }), "allow"],
    ["that is built in and says nothing", { from: "built-in", annotations: {} }, "ask"],
    ["of the program that says nothing", { from: "program", annotations: {} }, "allow"],
    [
      "of the program that says it changes something",
      { from: "program", annotations: { readOnlyHint: false } },
      "ask",
    ],
    ["of Lily's own", { from: "lily", annotations: { readOnlyHint: false } }, "allow"],
  ])("without a setting, of a tool %s", (_what, source, rule) => {
    expect(ruleOf(source)).toBe(rule);
  });

  it("is that of the name that fits best, in the first layer that knows it", () => {
    const source = ofServer();
    expect(ruleOf(source, { "*": "deny", "files/*": "allow" })).toBe("allow");
    expect(ruleOf(source, { "files/*": "allow", "files/write": "deny" })).toBe("deny");
    expect(ruleOf(source, { "files/write": "deny", files_write: "allow" })).toBe("allow");
    expect(ruleOf(source, { "*": "allow" }, { files_write: "deny" })).toBe("allow");
    expect(ruleOf(source, { other: "allow" }, { files_write: "deny" })).toBe("deny");
  });

  it("of Lily's own is said by name: `*` is about what others give", () => {
    const source: ToolSource = { from: "lily", annotations: {} };
    const name = "session_note";
    expect(toolRule([{ "*": "deny" }], { name, source })).toBe("allow");
    expect(toolRule([{ session_note: "ask" }], { name, source })).toBe("ask");
  });

  it("knows no names but those that are written: a tool named constructor has the rule of its source", () => {
    expect(toolRule([{}], { name: "constructor", source: ofServer() })).toBe("ask");
  });
});
