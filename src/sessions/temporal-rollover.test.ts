import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rolloverOverridesSchema, wholePolicy, type RolloverPolicy } from "./rollover-policy.ts";
import { nextBoundaryAfter } from "#src/kernel/clock.ts";
import { decideTemporal, temporalDue, type SessionClocks } from "./decide-rollover.ts";

const at = (instant: string): number => Date.parse(instant);
const HOUR = 3_600_000;
const MINUTE = 60_000;

function policy(overrides: object = {}): RolloverPolicy {
  return wholePolicy(rolloverOverridesSchema.parse(overrides));
}

function clocks(first: string, last = first): SessionClocks {
  return { firstActivityAt: first, lastActivityAt: last };
}

/** A policy with only the day boundary, strict unless said otherwise. */
function daily(timeZone: string, boundary: string, minIdle: number | string = 0): RolloverPolicy {
  return policy({ timeZone, idle: { enabled: false }, dayBoundary: { at: boundary, minIdle } });
}

describe("idle rollover", () => {
  const idleOnly = policy({ dayBoundary: { enabled: false } });
  const session = clocks("2026-03-01T08:00:00.000Z");

  it.each([
    ["one millisecond before the limit", "2026-03-01T19:59:59.999Z", "stay"],
    ["at the limit", "2026-03-01T20:00:00.000Z", "rotate"],
    ["after the limit", "2026-03-01T20:30:00.000Z", "rotate"],
  ])("decides %s", (_when, now, action) => {
    expect(decideTemporal(session, idleOnly, at(now)).action).toBe(action);
  });

  it("carries the numbers that made it", () => {
    expect(decideTemporal(session, idleOnly, at("2026-03-01T21:00:00.000Z"))).toEqual({
      action: "rotate",
      trigger: "idle",
      idleMs: 13 * HOUR,
      limitMs: 12 * HOUR,
      dueAt: "2026-03-01T20:00:00.000Z",
    });
  });

  it("never ends a session without a committed turn", () => {
    const empty = { firstActivityAt: null, lastActivityAt: null };
    expect(decideTemporal(empty, policy(), at("2030-01-01T00:00:00.000Z"))).toEqual({
      action: "stay",
      reason: "empty",
      idleMs: 0,
    });
  });

  it("TZ-11 counts a future last activity as now, and ends the session by idleness later", () => {
    const now = at("2026-03-01T10:00:00.000Z");
    const ahead = clocks("2026-03-01T13:00:00.000Z");
    expect(decideTemporal(ahead, idleOnly, now)).toMatchObject({
      action: "stay",
      reason: "clockBehind",
      idleMs: 0,
    });
    const repaired = clocks("2026-03-01T10:00:00.000Z");
    expect(decideTemporal(repaired, idleOnly, now + 16 * HOUR)).toMatchObject({
      action: "rotate",
      trigger: "idle",
    });
  });

  it("TZ-07 reads the same age whatever zone the process runs in", () => {
    const ages = ["America/Los_Angeles", "Asia/Tokyo", "UTC"].map((zone) => {
      process.env["TZ"] = zone;
      return decideTemporal(clocks("2026-02-03T10:15:00.000Z"), idleOnly, at("2026-02-03T11:15:00.001Z"))
        .action === "stay"
        ? at("2026-02-03T11:15:00.001Z") - at("2026-02-03T10:15:00.000Z")
        : -1;
    });
    delete process.env["TZ"];
    expect(new Set(ages)).toEqual(new Set([HOUR + 1]));
  });
});

describe("day boundary rollover", () => {
  it("RO-03 lets a conversation that is active at the boundary go on until it has been idle for ten minutes", () => {
    const deferring = policy({ dayBoundary: { at: "04:00" } });
    const lastAt = "2026-03-02T03:58:00.000Z";
    const session = clocks("2026-03-02T03:50:00.000Z", lastAt);
    expect(decideTemporal(session, deferring, at("2026-03-02T04:01:00.000Z")).action).toBe("stay");
    const later = clocks("2026-03-02T03:50:00.000Z", "2026-03-02T04:01:00.000Z");
    expect(decideTemporal(later, deferring, at("2026-03-02T04:10:59.999Z")).action).toBe("stay");
    expect(decideTemporal(later, deferring, at("2026-03-02T04:11:00.000Z"))).toMatchObject({
      action: "rotate",
      trigger: "dayBoundary",
      boundaryAt: "2026-03-02T04:00:00.000Z",
      idleMs: 10 * MINUTE,
    });
  });

  it("ends the session at the boundary itself when minIdle is 0", () => {
    const strict = daily("UTC", "04:00");
    const session = clocks("2026-03-02T03:59:00.000Z");
    expect(decideTemporal(session, strict, at("2026-03-02T03:59:59.999Z")).action).toBe("stay");
    expect(decideTemporal(session, strict, at("2026-03-02T04:00:00.000Z")).action).toBe("rotate");
  });

  it("names whichever rule was due first when both are", () => {
    const session = clocks("2026-03-01T23:00:00.000Z");
    expect(decideTemporal(session, policy(), at("2026-03-03T00:00:00.000Z"))).toMatchObject({
      trigger: "dayBoundary",
    });
    const morning = clocks("2026-03-01T05:00:00.000Z");
    expect(decideTemporal(morning, policy(), at("2026-03-03T00:00:00.000Z"))).toMatchObject({
      trigger: "idle",
    });
  });

  it("TZ-01 works out yesterday's boundary with yesterday's offset on the spring-forward day", () => {
    const session = clocks("2026-03-07T08:40:00.000Z");
    expect(
      decideTemporal(session, daily("America/Chicago", "02:00"), at("2026-03-08T07:10:00.000Z")).action,
    ).toBe("stay");
  });

  it("TZ-02 has one boundary in the repeated autumn hour, the earlier one", () => {
    const rule = daily("America/Chicago", "01:15");
    const session = clocks("2026-11-01T06:20:00.000Z");
    expect(decideTemporal(session, rule, at("2026-11-01T07:30:00.000Z")).action).toBe("stay");
    expect(
      nextBoundaryAfter(at("2026-11-01T06:00:00.000Z"), { at: "01:15", timeZone: "America/Chicago" }),
    ).toBe(at("2026-11-01T06:15:00.000Z"));
  });

  it("TZ-02 has a missing boundary at the end of the gap", () => {
    expect(
      nextBoundaryAfter(at("2026-03-08T07:00:00.000Z"), { at: "02:30", timeZone: "America/Chicago" }),
    ).toBe(at("2026-03-08T08:00:00.000Z"));
  });

  it.each([
    ["America/New_York", "02:00", "2026-03-08T05:30:00.000Z", "2026-03-08T07:00:00.000Z"],
    ["Australia/Lord_Howe", "02:00", "2026-10-03T14:00:00.000Z", "2026-10-03T15:30:00.000Z"],
    ["Africa/Cairo", "00:00", "2026-04-23T12:00:00.000Z", "2026-04-23T22:00:00.000Z"],
    ["America/Havana", "00:00", "2026-03-08T03:00:00.000Z", "2026-03-08T05:00:00.000Z"],
    ["Asia/Beirut", "00:00", "2026-03-28T12:00:00.000Z", "2026-03-28T22:00:00.000Z"],
    ["Europe/Paris", "02:00", "2026-03-29T00:10:00.000Z", "2026-03-29T01:00:00.000Z"],
  ])("has a boundary at the very start of a gap at its end: %s %s (F-3)", (timeZone, time, now, end) => {
    expect(nextBoundaryAfter(at(now), { at: time, timeZone })).toBe(at(end));
  });

  it.each(["UTC", "America/Los_Angeles", "Asia/Tokyo"])(
    "TZ-04 uses the user's zone on a host in %s",
    (host) => {
      process.env["TZ"] = host;
      const rule = daily("Asia/Tokyo", "04:00");
      const first = decideTemporal(clocks("2026-01-10T18:00:00.000Z"), rule, at("2026-01-10T19:30:00.000Z"));
      const second = decideTemporal(clocks("2026-01-10T19:30:00.000Z"), rule, at("2026-01-11T04:30:00.000Z"));
      delete process.env["TZ"];
      expect([first.action, second.action]).toEqual(["rotate", "stay"]);
    },
  );

  it("has no boundary on a date that the zone skipped", () => {
    // Samoa went from 29 to 31 December 2011 at 2011-12-30T10:00Z.
    const samoa = { at: "04:00", timeZone: "Pacific/Apia" };
    expect(nextBoundaryAfter(at("2011-12-29T14:00:00.000Z"), samoa)).toBe(at("2011-12-30T14:00:00.000Z"));
  });

  it("has its next boundary after any instant within two days, and never twice on one date", () => {
    const zones = [
      "UTC",
      "Europe/Paris",
      "America/Chicago",
      "Asia/Kathmandu",
      "Australia/Lord_Howe",
      "Pacific/Apia",
    ];
    fc.assert(
      fc.property(
        fc.integer({ min: at("2005-01-01T00:00:00Z"), max: at("2035-01-01T00:00:00Z") }),
        fc.constantFrom(...zones),
        fc.constantFrom("00:00", "01:30", "02:30", "04:00", "23:59"),
        (now, timeZone, time) => {
          const next = nextBoundaryAfter(now, { at: time, timeZone });
          const after = nextBoundaryAfter(next, { at: time, timeZone });
          expect(next).toBeGreaterThan(now);
          expect(next - now).toBeLessThanOrEqual(49 * HOUR);
          expect(after - next).toBeGreaterThanOrEqual(22 * HOUR);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe("the due time", () => {
  it("is the moment at which the decision turns, for any clocks and policy", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 20 * HOUR }),
        fc.integer({ min: 0, max: 40 * HOUR }),
        fc.record({
          limit: fc.integer({ min: 1_000, max: 30 * HOUR }),
          minIdle: fc.integer({ min: 0, max: HOUR }),
          idle: fc.boolean(),
          day: fc.boolean(),
        }),
        (span, wait, rules) => {
          const first = at("2026-05-01T01:00:00.000Z");
          const last = first + span;
          const rule = policy({
            idle: { enabled: rules.idle, limit: rules.limit },
            dayBoundary: { enabled: rules.day, minIdle: rules.minIdle },
          });
          const session = clocks(new Date(first).toISOString(), new Date(last).toISOString());
          const now = last + wait;
          const due = temporalDue(session, rule, now);
          expect(decideTemporal(session, rule, now).action).toBe(
            due !== undefined && now >= due.dueMs ? "rotate" : "stay",
          );
        },
      ),
    );
  });
});
