import { describe, expect, it } from "vitest";
import { rotateVerdictSchema, stayVerdictSchema, verdictSchema } from "./verdict.ts";

const AT = "2026-03-01T09:00:00.000Z";
const idle = { action: "rotate", trigger: "idle", idleMs: 2, limitMs: 1, dueAt: AT };
const stay = { action: "stay", reason: "withinWindow", idleMs: 5 };

describe("a stored verdict", () => {
  it.each<[string, object]>([
    ["a command", { action: "rotate", trigger: "command", command: "/new" }],
    ["idleness", idle],
    [
      "the end of a day",
      {
        action: "rotate",
        trigger: "dayBoundary",
        boundaryAt: AT,
        at: "04:00",
        timeZone: "UTC",
        idleMs: 2,
        minIdleMs: 1,
        dueAt: AT,
      },
    ],
    [
      "a change of topic",
      {
        action: "rotate",
        trigger: "semantic",
        confidence: 0.9,
        threshold: 0.8,
        turns: 3,
        confirmations: 1,
        decidedBy: { model: "openai:x", level: "defaults" },
      },
    ],
    [
      "a reversal",
      {
        action: "rotate",
        trigger: "reversal",
        confidence: 0.9,
        threshold: 0.8,
        turns: 1,
        decidedBy: { model: "built-in", level: "built-in" },
      },
    ],
    ["a replay", { action: "rotate", trigger: "replay", turns: 4 }],
    ["going on", stay],
    ["going on with a topic finding", { ...stay, semantic: { result: "same", confidence: 0.1 } }],
  ])("reads back as it was written for %s", (_what, verdict) => {
    expect(verdictSchema.parse(verdict)).toEqual(verdict);
  });

  it.each<[string, object]>([
    ["without the numbers that made it", { action: "rotate", trigger: "idle", dueAt: AT }],
    ["with the numbers of another trigger", { ...idle, confidence: 1 }],
    ["with an unknown trigger", { ...idle, trigger: "moon" }],
    ["with an unknown reason", { ...stay, reason: "lazy" }],
    ["with an unknown topic finding", { ...stay, semantic: { result: "perhaps" } }],
    ["with a number as text", { ...idle, idleMs: "2" }],
    ["with a duration that is NaN, which JSON cannot carry", { ...stay, idleMs: NaN }],
    ["that stays and rotates at once", { ...idle, reason: "withinWindow" }],
    ["without an action", { trigger: "idle", idleMs: 2, limitMs: 1, dueAt: AT }],
  ])("is refused %s", (_what, verdict) => {
    expect(verdictSchema.safeParse(verdict).success).toBe(false);
  });

  it("to rotate is no verdict to stay, and the other way round", () => {
    expect(stayVerdictSchema.safeParse(idle).success).toBe(false);
    expect(rotateVerdictSchema.safeParse(stay).success).toBe(false);
  });
});
