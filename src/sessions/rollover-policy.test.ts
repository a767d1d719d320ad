import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  resolvePolicy,
  rolloverOverridesSchema,
  wholePolicy,
  type PolicySources,
  type RolloverOverrides,
} from "./rollover-policy.ts";

const HOUR = 3_600_000;
const TEN_YEARS = 3_650 * 24 * HOUR;
const parsePolicy = (given: unknown) => wholePolicy(rolloverOverridesSchema.parse(given));
const defaults = parsePolicy({});

const accepts = (policy: unknown): boolean => rolloverOverridesSchema.safeParse(policy).success;
const idleLimit = (limit: unknown): number => parsePolicy({ idle: { limit } }).idle.limit;

describe("a rollover policy", () => {
  it("has the defaults of the design when nothing is said", () => {
    expect(defaults).toEqual({
      timeZone: "UTC",
      idle: { enabled: true, limit: 12 * HOUR },
      dayBoundary: { enabled: true, at: "04:00", minIdle: 600_000 },
      semantic: {
        enabled: false,
        minTurns: 3,
        threshold: 0.8,
        confirmations: 1,
        cooldown: 1_800_000,
        deadline: 3_000,
      },
      reversal: { turns: 2 },
      handover: "none",
    });
  });

  it("keeps the other defaults of a part that is given in part", () => {
    expect(parsePolicy({ dayBoundary: { at: "23:59" } }).dayBoundary).toEqual({
      enabled: true,
      at: "23:59",
      minIdle: 600_000,
    });
  });

  it("reads as itself when it is read again", () => {
    const policy = parsePolicy({ idle: { limit: "90s" }, semantic: { cooldown: "2d" } });
    expect(parsePolicy(policy)).toEqual(policy);
  });

  it.each<[unknown, number]>([
    ["90s", 90_000],
    ["10m", 600_000],
    ["12h", 12 * HOUR],
    ["2d", 48 * HOUR],
    ["1.5h", 1.5 * HOUR],
    [" 12 h ", 12 * HOUR],
    ["12H", 12 * HOUR],
    ["1000 ms", 1000],
    [1000, 1000],
    [TEN_YEARS, TEN_YEARS],
  ])("reads the duration %j as %i ms", (text, ms) => {
    expect(idleLimit(text)).toBe(ms);
  });

  it.each<[string, unknown]>([
    ["nothing", ""],
    ["white space", "  "],
    ["a number without a unit", "12"],
    ["an unknown unit", "12 parsecs"],
    ["a negative duration", "-1h"],
    ["a negative number", -1],
    ["NaN", NaN],
    ["Infinity", Infinity],
    ["a duration beyond ten years", TEN_YEARS + 1],
    ["a duration beyond what a date can hold", "300000y"],
    ["digits of another script", "١٢h"],
    ["an ISO 8601 duration", "PT12H"],
    ["two units at once", "1h 30m"],
    ["a boolean", true],
    ["null", null],
  ])("refuses %s as a duration without throwing", (_what, limit) => {
    expect(accepts({ idle: { limit } })).toBe(false);
    expect(rolloverOverridesSchema.safeParse({ idle: { limit } }).success).toBe(false);
  });

  it("takes an idle limit of one second and refuses a shorter one", () => {
    expect(accepts({ idle: { limit: 1000 } })).toBe(true);
    expect(accepts({ idle: { limit: 999 } })).toBe(false);
    expect(accepts({ idle: { limit: 0 } })).toBe(false);
  });

  it("takes no idle time at all at the day boundary, which means strict", () => {
    expect(accepts({ dayBoundary: { minIdle: 0 } })).toBe(true);
  });

  it.each(["00:00", "04:00", "19:59", "23:59"])("takes the local time %s", (at) => {
    expect(accepts({ dayBoundary: { at } })).toBe(true);
  });

  it.each(["24:00", "4:00", "04:60", "04:00:00", "04-00", "0400", " 04:00", "04:00\n", "", "٠٤:٠٠"])(
    "refuses the local time %j",
    (at) => {
      expect(accepts({ dayBoundary: { at } })).toBe(false);
    },
  );

  it.each(["UTC", "Europe/Paris", "America/Argentina/Buenos_Aires", "Asia/Kathmandu"])(
    "takes the time zone %s",
    (timeZone) => {
      expect(accepts({ timeZone })).toBe(true);
    },
  );

  it.each(["", "Mars/Olympus", "Europe", "Paris", "local", 1, null])(
    "refuses the time zone %j",
    (timeZone) => {
      expect(accepts({ timeZone })).toBe(false);
    },
  );

  it.each<[string, object]>([
    ["a threshold over 1", { semantic: { threshold: 1.01 } }],
    ["a threshold below 0", { semantic: { threshold: -0.01 } }],
    ["no turns at all before a change of topic", { semantic: { minTurns: 0 } }],
    ["half a confirmation", { semantic: { confirmations: 0.5 } }],
    ["an unknown part", { weekly: {} }],
    ["a misspelt key inside a part", { idle: { limitMs: 1000 } }],
    ["a boolean as text", { idle: { enabled: "false" } }],
    ["an unknown hand-over", { handover: "full" }],
  ])("refuses %s", (_what, policy) => {
    expect(accepts(policy)).toBe(false);
  });
});

describe("the policy of one session", () => {
  const limit = (hours: number): RolloverOverrides => ({ idle: { limit: hours * HOUR } });
  const sources: PolicySources = {
    base: defaults,
    byKeyPrefix: [
      { prefix: "telegram:dm:", rollover: limit(3) },
      { prefix: "", rollover: limit(1) },
      { prefix: "telegram:", rollover: { ...limit(2), handover: "brief" } },
    ],
    byAgent: { coach: limit(4) },
  };
  const subject = { sessionKey: "cli:main", agent: "lily", ownKey: false };
  const hoursOf = (changes: object): number =>
    resolvePolicy(sources, { ...subject, ...changes }).idle.limit / HOUR;

  it.each([
    ["the empty prefix, which fits every key", {}, 1],
    ["a longer prefix over a shorter one", { sessionKey: "telegram:group:1" }, 2],
    ["the longest prefix, in whatever order they are listed", { sessionKey: "telegram:dm:1" }, 3],
    ["the agent over the key", { sessionKey: "telegram:dm:1", agent: "coach" }, 4],
    ["the session over everything", { agent: "coach", session: limit(5) }, 5],
  ])("takes the word of %s", (_of, changes, hours) => {
    expect(hoursOf(changes)).toBe(hours);
  });

  it("keeps what a shorter prefix said where a longer one is silent", () => {
    expect(resolvePolicy(sources, { ...subject, sessionKey: "telegram:dm:1" }).handover).toBe("brief");
  });

  it("takes a prefix by letter: another case does not fit", () => {
    expect(hoursOf({ sessionKey: "Telegram:dm:1" })).toBe(1);
  });

  it("lets the later of two equal prefixes have the last word", () => {
    const twice = {
      ...sources,
      byKeyPrefix: [5, 6].map((hours) => ({ prefix: "cli:", rollover: limit(hours) })),
    };
    expect(resolvePolicy(twice, subject).idle.limit).toBe(6 * HOUR);
  });

  it.each(["constructor", "toString", "__proto__", ""])("is not confused by an agent called %j", (agent) => {
    expect(hoursOf({ agent })).toBe(1);
  });

  it("counts an override that is undefined as not said", () => {
    const session = { handover: undefined, idle: { limit: undefined } } as unknown as RolloverOverrides;
    expect(resolvePolicy({ ...sources, byKeyPrefix: [] }, { ...subject, session })).toEqual(defaults);
  });

  it("ends a thread that is its own key by nothing but a command", () => {
    const policy = resolvePolicy(sources, {
      ...subject,
      sessionKey: "telegram:dm:1",
      agent: "coach",
      ownKey: true,
    });
    expect([policy.idle.enabled, policy.dayBoundary.enabled, policy.semantic.enabled]).toEqual([
      false,
      false,
      false,
    ]);
    expect(policy.idle.limit).toBe(12 * HOUR);
  });

  it("lets a thread that is its own key turn a rule on for itself", () => {
    const policy = resolvePolicy(sources, { ...subject, ownKey: true, session: { idle: { enabled: true } } });
    expect(policy.idle.enabled).toBe(true);
    expect(policy.dayBoundary.enabled).toBe(false);
  });

  it("changes none of its sources", () => {
    const copy = structuredClone(sources);
    resolvePolicy(sources, { ...subject, agent: "coach", sessionKey: "telegram:dm:1" });
    expect(sources).toEqual(copy);
  });

  it("is a valid policy whatever is laid over whatever", () => {
    const hours = fc.integer({ min: 1, max: 48 }).map((count) => count * HOUR);
    const overrides: fc.Arbitrary<RolloverOverrides> = fc.record(
      {
        idle: fc.record({ enabled: fc.boolean(), limit: hours }, { requiredKeys: [] }),
        dayBoundary: fc.record(
          { enabled: fc.boolean(), at: fc.constantFrom("00:00", "23:59"), minIdle: hours },
          { requiredKeys: [] },
        ),
        semantic: fc.record(
          { enabled: fc.boolean(), threshold: fc.double({ min: 0, max: 1, noNaN: true }) },
          { requiredKeys: [] },
        ),
        handover: fc.constantFrom("none" as const, "brief" as const),
        timeZone: fc.constantFrom("UTC", "Asia/Tokyo"),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(
        fc.array(overrides, { maxLength: 3 }),
        overrides,
        fc.boolean(),
        (layers, session, ownKey) => {
          const byKeyPrefix = layers.map((rollover, index) => ({
            prefix: "cli:main".slice(0, index),
            rollover,
          }));
          const policy = resolvePolicy(
            { base: defaults, byKeyPrefix, byAgent: {} },
            { ...subject, session, ownKey },
          );
          expect(parsePolicy(policy)).toEqual(policy);
          if (session.idle?.limit !== undefined) expect(policy.idle.limit).toBe(session.idle.limit);
          if (session.handover !== undefined) expect(policy.handover).toBe(session.handover);
        },
      ),
    );
  });
});
