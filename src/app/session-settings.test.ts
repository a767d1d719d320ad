import { describe, expect, it } from "vitest";
import { resolvePolicy } from "#src/sessions/rollover-policy.ts";
import { configSchema } from "./config.ts";
import { sessionSettings } from "./session-settings.ts";

const settings = (config: object = {}, env: Record<string, string> = {}) =>
  sessionSettings(configSchema.parse(config), env, { machineZone: () => "Europe/Paris" });

describe("the settings of sessions", () => {
  it("take the machine's zone where none is configured, and the configured one otherwise", () => {
    expect(settings().policies.base.timeZone).toBe("Europe/Paris");
    expect(settings({ timeZone: "Asia/Tokyo" }).policies.base.timeZone).toBe("Asia/Tokyo");
  });

  it("ask the machine for its zone only when a rule is asked for", () => {
    const asked: string[] = [];
    const made = sessionSettings(
      configSchema.parse({}),
      {},
      {
        machineZone: () => {
          asked.push("machine");
          return "Europe/Paris";
        },
      },
    );
    expect(asked).toEqual([]);
    expect(resolvePolicy(made.policies, { sessionKey: "k", agent: "lily", ownKey: false }).timeZone).toBe(
      "Europe/Paris",
    );
    expect(asked).not.toEqual([]);
  });

  it("keep as many messages in the state as clients show, unless told otherwise", () => {
    expect(settings().limits.windowCharacters).toBe(12_000);
    expect(settings({ limits: { windowCharacters: 0 } }).limits.windowCharacters).toBe(0);
  });

  it("carry limits, bot names and owner over as they are configured", () => {
    const made = settings({ owner: "ada", botNames: ["bot"], limits: { modelCalls: 3 } });
    expect(made).toMatchObject({ localOwner: "ada", botNames: ["bot"], limits: { modelCalls: 3 } });
  });

  it("put the configured rollover rules under those of keys and agents", () => {
    const { policies } = settings({
      rollover: { idle: { limit: "1h" }, handover: "brief" },
      keys: [{ prefix: "cli:", rollover: { idle: { limit: "2h" } } }],
      agents: { coach: { rollover: { idle: { limit: "3h" } } } },
    });
    const of = (sessionKey: string, agent: string) =>
      resolvePolicy(policies, { sessionKey, agent, ownKey: false }).idle.limit / 3_600_000;
    expect([of("x", "lily"), of("cli:main", "lily"), of("cli:main", "coach")]).toEqual([1, 2, 3]);
    expect(policies.base.handover).toBe("brief");
  });
});

describe("the default model", () => {
  const agents = { defaults: { model: "openai:base" }, coach: { model: "openai:big" }, quiet: {} };

  it.each([
    ["coach", "openai:big"],
    ["quiet", "openai:base"],
    ["lily", "openai:base"],
    ["constructor", "openai:base"],
  ])("of %s is the agent's own, else the one for all", (agent, model) => {
    expect(settings({ agents }).agents.defaultModel(agent)).toBe(model);
  });

  it("comes from the environment where configuration names none", () => {
    expect(settings({}, { OPENAI_API_KEY: "k", OPENAI_MODEL: "m" }).agents.defaultModel("lily")).toBe(
      "openai:m",
    );
  });

  it("is the built-in solver where nothing is configured at all", () => {
    expect(settings().agents.defaultModel("lily")).toBe("symbolic");
  });

  it("is what configuration says, whatever the environment says", () => {
    expect(settings({ agents }, { OPENAI_API_KEY: "k", LILY_MODEL: "m" }).agents.defaultModel("coach")).toBe(
      "openai:big",
    );
  });
});

describe("the offer of tools", () => {
  const agents = { defaults: { tools: false }, handy: { tools: true }, quiet: {} };

  it.each([
    ["handy", true],
    ["quiet", false],
  ])("D-1 of %s is the agent's own, else the one for all", (agent, offered) => {
    expect(settings({ agents }).agents.offersTools(agent)).toBe(offered);
    expect(settings().agents.offersTools(agent)).toBe(true);
  });
});

describe("the sampling temperature", () => {
  const agents = { defaults: { temperature: 0.7 }, exact: { temperature: 0 }, quiet: {} };

  it.each([
    ["exact", 0],
    ["quiet", 0.7],
    ["lily", 0.7],
  ])("of %s is the agent's own, 0 included, else the one for all", (agent, temperature) => {
    expect(settings({ agents }).agents.temperature(agent)).toBe(temperature);
  });

  it("is left to the server where none is configured", () => {
    expect(settings().agents.temperature("lily")).toBeUndefined();
  });
});
