import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { isLilyError } from "#src/kernel/errors.ts";
import { configSchema, loadConfig } from "./config.ts";

/** A home folder with this text as its `config.json`, or without one. */
function homeWith(text?: string | Buffer): string {
  const home = mkdtempSync(join(tmpdir(), "lily-config-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  if (text !== undefined) writeFileSync(join(home, "config.json"), text);
  return home;
}

const load = (home: string) => loadConfig({ LILY_HOME: home }, "/");

function refusal(home: string): { code: string; message: string } | undefined {
  try {
    load(home);
    return undefined;
  } catch (error) {
    if (!isLilyError(error)) throw error;
    return { code: error.code, message: error.message };
  }
}

const accepts = (config: unknown): boolean => configSchema.safeParse(config).success;

describe("loading the configuration", () => {
  it("gives the defaults when there is no file, or not even the folder", () => {
    const defaults = configSchema.parse({});
    expect(load(homeWith()).config).toEqual(defaults);
    expect(load(join(homeWith(), "not", "there")).config).toEqual(defaults);
  });

  it("gives the defaults for an empty object", () => {
    expect(load(homeWith("{}")).config).toMatchObject({
      owner: "local",
      defaultKey: "cli:main",
      botNames: ["lily"],
      storage: { backend: "sqlite", keepTurns: 20 },
      rollover: { idle: { limit: 12 * 3_600_000 } },
      keys: [],
      agents: {},
    });
  });

  it.each([
    ["UTF-8", Buffer.from('\ufeff{"owner":"ada"}')],
    ["UTF-16", Buffer.from('\ufeff{"owner":"ada"}', "utf16le")],
  ])("reads a file with the mark of %s (F-5)", (_what, bytes) => {
    expect(load(homeWith(bytes)).config.owner).toBe("ada");
  });

  it("says which folder it is for", () => {
    const home = homeWith("{}");
    expect(load(home).home).toBe(home);
  });

  it("keeps the other defaults of a part that is given in part", () => {
    const { config } = load(homeWith('{"storage":{"keepTurns":3},"rollover":{"idle":{"limit":"2d"}}}'));
    expect(config.storage).toMatchObject({ backend: "sqlite", keepTurns: 3 });
    expect(config.rollover.idle).toEqual({ enabled: true, limit: 48 * 3_600_000 });
    expect(config.rollover.dayBoundary.at).toBe("04:00");
  });

  it("prints model references in full", () => {
    const { config } = load(homeWith('{"agents":{"defaults":{"model":" gpt-4o "}}}'));
    expect(config.agents["defaults"]?.model).toBe("openai:gpt-4o");
  });

  it.each<[string, string | Buffer]>([
    ["is empty", ""],
    ["is no JSON", "{owner: local}"],
    ["ends in the middle", '{"owner":"lo'],
    ["has a comment", "{} // mine"],
    ["is binary", Buffer.from([0xff, 0x00, 0xfe])],
  ])("is refused with the file's name when the file %s", (_what, text) => {
    const home = homeWith(text);
    const found = refusal(home);
    expect(found?.code).toBe("config_invalid");
    expect(found?.message).toContain(join(home, "config.json"));
    expect(found?.message).toContain("cannot be read");
  });

  it("is refused when config.json is a folder", () => {
    const home = homeWith();
    mkdirSync(join(home, "config.json"));
    expect(refusal(home)?.code).toBe("config_invalid");
  });

  it.each<[string, unknown, string]>([
    ["a misspelt key", { ownr: "x" }, "ownr"],
    ["a misspelt key deep inside", { rollover: { idle: { limits: 1 } } }, "rollover.idle"],
    ["an empty duration", { rollover: { idle: { limit: "" } } }, "rollover.idle.limit"],
    [
      "a duration in a key's rule",
      { keys: [{ prefix: "x", rollover: { idle: { limit: "soon" } } }] },
      "keys[0]",
    ],
    ["an unknown time zone", { timeZone: "Mars/Base" }, "timeZone"],
    ["an unreadable model", { agents: { coach: { model: "nowhere:x" } } }, "agents.coach.model"],
    ["a number as text", { storage: { keepTurns: "3" } }, "storage.keepTurns"],
  ])("is refused with the path of %s", (_what, config, path) => {
    const found = refusal(homeWith(JSON.stringify(config)));
    expect(found?.code).toBe("config_invalid");
    expect(found?.message).toContain(path);
  });

  it.each(["null", "[]", '"x"', "5"])("is refused when the file holds %s", (text) => {
    expect(refusal(homeWith(text))?.code).toBe("config_invalid");
  });
});

describe("what configuration may say", () => {
  it.each<[string, object]>([
    ["an empty owner", { owner: "" }],
    ["an empty default key", { defaultKey: "" }],
    ["a blank owner", { owner: " " }],
    ["a default key with a line break", { defaultKey: "a\nb" }],
    ["an empty bot name", { botNames: [""] }],
    ["another storage", { storage: { backend: "mysql" } }],
    ["no checkpoints at all to keep", { storage: { keepTurns: 0 } }],
    ["a message limit of 0", { limits: { messageCharacters: 0 } }],
    ["a negative window", { limits: { windowCharacters: -1 } }],
    ["half a token", { limits: { contextTokens: 600.5 } }],
    ["less than 500 tokens of context", { limits: { contextTokens: 499 } }],
    ["no model call", { limits: { modelCalls: 0 } }],
    ["41 model calls", { limits: { modelCalls: 41 } }],
    ["a zone inside the rollover rules, which would be a second one", { rollover: { timeZone: "UTC" } }],
    ["a rule without a prefix", { keys: [{ rollover: {} }] }],
    ["a blank model", { agents: { lily: { model: "  " } } }],
  ])("is not %s", (_what, config) => {
    expect(accepts(config)).toBe(false);
  });

  it.each<[string, object]>([
    ["a prefix that fits every key", { keys: [{ prefix: "", rollover: {} }] }],
    ["no bot names", { botNames: [] }],
    ["no window", { limits: { windowCharacters: 0 } }],
    ["40 model calls", { limits: { modelCalls: 40 } }],
    ["500 tokens of context", { limits: { contextTokens: 500 } }],
    ["a zone of its own for a key", { keys: [{ prefix: "x", rollover: { timeZone: "Asia/Tokyo" } }] }],
    ["the built-in solver as a model", { agents: { defaults: { model: "symbolic" } } }],
  ])("is %s", (_what, config) => {
    expect(accepts(config)).toBe(true);
  });

  it("reads as itself when it is read again", () => {
    const config = configSchema.parse({
      agents: { defaults: { model: "gpt-4o" } },
      rollover: { idle: { limit: "1h" } },
    });
    expect(configSchema.parse(config)).toEqual(config);
  });
});
