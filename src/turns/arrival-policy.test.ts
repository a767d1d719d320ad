import { describe, expect, it } from "vitest";
import { configSchema } from "#src/app/config.ts";
import { sessionSettings } from "#src/app/session-settings.ts";
import { DEFAULT_ARRIVALS, gathers, resolveArrivals } from "./arrival-policy.ts";

const policyOf = (config: object, sessionKey = "cli:main") =>
  resolveArrivals(
    sessionSettings(configSchema.parse(config), {}, { machineZone: () => "UTC" }).arrivals ??
      DEFAULT_ARRIVALS,
    sessionKey,
  );

describe("the rule for messages that arrive during a turn", () => {
  it("is by default that each waits for its own turn", () => {
    const queue = { mode: "queue", debounceMs: 0, maxWaitMs: 10_000, stopWaitMs: 10_000 };
    expect(policyOf({})).toEqual(queue);
    expect(resolveArrivals(DEFAULT_ARRIVALS, "any")).toEqual(queue);
    expect(gathers(policyOf({}))).toBe(false);
  });

  it("is taken from the configuration, then from the prefixes of the key, the longest last", () => {
    const config = {
      arrivals: { mode: "collect", debounceMs: 100 },
      keys: [
        { prefix: "tg:dm:", arrivals: { mode: "interrupt" } },
        { prefix: "tg:", arrivals: { mode: "queue", maxWaitMs: 5_000 } },
        { prefix: "tg:dm:", rollover: { idle: { limit: "2h" } } },
      ],
    };
    expect(policyOf(config)).toMatchObject({ mode: "collect", debounceMs: 100 });
    expect(policyOf(config, "tg:group:1")).toMatchObject({ mode: "queue", debounceMs: 100 });
    expect(policyOf(config, "tg:dm:1")).toMatchObject({ mode: "interrupt", maxWaitMs: 5_000 });
  });

  it("keeps the rollover of a prefix that has both", () => {
    const rule = { prefix: "tg:", rollover: { idle: { limit: "2h" } }, arrivals: { mode: "collect" } };
    const settings = sessionSettings(configSchema.parse({ keys: [rule] }), {}, { machineZone: () => "UTC" });
    expect(settings.policies.byKeyPrefix).toMatchObject([
      { prefix: "tg:", rollover: { idle: { limit: 7_200_000 } } },
    ]);
  });

  it.each([
    ["a mode that does not exist", { mode: "drop" }],
    ["a time below zero", { debounceMs: -1 }],
    ["a wait for a stopped turn that none can meet", { stopWaitMs: 0 }],
    ["a part that does not exist", { debounce: 1 }],
  ])("refuses %s", (_what, arrivals) => {
    expect(configSchema.safeParse({ arrivals }).success).toBe(false);
    expect(configSchema.safeParse({ keys: [{ prefix: "x", arrivals }] }).success).toBe(false);
  });

  it("gathers messages in every mode but a queue without quiet time", () => {
    expect(gathers(policyOf({ arrivals: { debounceMs: 1 } }))).toBe(true);
    expect(gathers(policyOf({ arrivals: { mode: "collect" } }))).toBe(true);
    expect(gathers(policyOf({ arrivals: { mode: "interrupt" } }))).toBe(true);
  });
});
