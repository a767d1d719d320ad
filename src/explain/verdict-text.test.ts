import { describe, expect, it } from "vitest";
import type { RotateVerdict, StayVerdict } from "#src/sessions/verdict.ts";
import { rolloverAnnouncement, verdictText } from "./verdict-text.ts";

const HOUR = 3_600_000;
const DUE = "2026-03-02T03:00:00.000Z";

const idle: RotateVerdict = {
  action: "rotate",
  trigger: "idle",
  idleMs: 13 * HOUR,
  limitMs: 12 * HOUR,
  dueAt: DUE,
};
const day: RotateVerdict = {
  action: "rotate",
  trigger: "dayBoundary",
  boundaryAt: DUE,
  at: "04:00",
  timeZone: "Europe/Paris",
  idleMs: 2 * HOUR,
  minIdleMs: 600_000,
  dueAt: DUE,
};
const semantic: RotateVerdict = {
  action: "rotate",
  trigger: "semantic",
  confidence: 0.9,
  threshold: 0.8,
  turns: 3,
  confirmations: 1,
  decidedBy: { model: "openai:x", level: "defaults" },
};
const command: RotateVerdict = { action: "rotate", trigger: "command", command: "/new" };
const stay: StayVerdict = {
  action: "stay",
  reason: "withinWindow",
  idleMs: HOUR,
  limitMs: 12 * HOUR,
  dueAt: DUE,
};

describe("the reason of a rollover in words", () => {
  it.each<[string, RotateVerdict, string]>([
    ["a command", command, "you asked for it with /new"],
    ["idleness", idle, "13 h since the last turn (limit 12 h)"],
    ["the day", day, "the day ended at 2026-03-02 04:00 Europe/Paris, 2 h since the last turn"],
    ["the topic", semantic, "the topic changed (confidence 0.90, threshold 0.80, by openai:x)"],
  ])("has the numbers of %s", (_of, verdict, text) => {
    expect(verdictText(verdict, "Asia/Tokyo")).toBe(text);
  });

  it.each([command, idle, day, semantic])(
    "stands in the announcement, with the way back: $trigger",
    (verdict) => {
      const text = rolloverAnnouncement(verdict);
      expect(text).toContain(`A new conversation began: ${verdictText(verdict, "UTC")}.`);
      expect(text).toContain("/rejoin");
    },
  );
});

describe("the reason of going on in words", () => {
  it("says how long ago the last turn was, the limit, and when it ends in the user's zone", () => {
    expect(verdictText(stay, "Asia/Tokyo")).toBe(
      "1 h since the last turn (limit 12 h); ends at 2026-03-02 12:00",
    );
  });

  it("leaves out a limit and an end that there are not", () => {
    const bare: StayVerdict = { action: "stay", reason: "withinWindow", idleMs: 0 };
    expect(verdictText(bare, "UTC")).toBe("0 s since the last turn");
  });

  it("says nothing but that there is no turn yet for an empty session", () => {
    expect(verdictText({ ...stay, reason: "empty" }, "UTC")).toBe("the session has no turn yet");
  });

  it("says that rollover by time is off", () => {
    expect(verdictText({ action: "stay", reason: "off", idleMs: 5 }, "UTC")).toBe("rollover by time is off");
  });

  it("says that the clock stands before the last turn", () => {
    expect(verdictText({ ...stay, reason: "clockBehind" }, "UTC")).toBe(
      "the clock stands before the last turn, which counts as now; ends at 2026-03-02 03:00",
    );
  });

  it("says what the change-of-topic check found, with its confidence", () => {
    const found = { ...stay, semantic: { result: "unconfirmed" as const, confidence: 0.9 } };
    expect(verdictText(found, "UTC")).toMatch(/; change of topic: likely at 0\.90, but not confirmed yet$/u);
    const unknown = { ...stay, semantic: { result: "unknown" as const } };
    expect(verdictText(unknown, "UTC")).toMatch(/; change of topic: unknown$/u);
  });

  it("does not mention a change-of-topic check that is off", () => {
    expect(verdictText({ ...stay, semantic: { result: "off" } }, "UTC")).toBe(verdictText(stay, "UTC"));
  });
});
