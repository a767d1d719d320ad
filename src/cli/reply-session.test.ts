import { describe, expect, it } from "vitest";
import { sessionAfter } from "./reply-session.ts";

describe("the session that a terminal is in", () => {
  it("is none after a command that only reads, before the first turn: another one is begun then", () => {
    expect(sessionAfter({ outcome: "command", sessionId: "s1", turn: null }, undefined)).toBeUndefined();
    expect(sessionAfter({ outcome: "refused", sessionId: "s1", turn: null }, undefined)).toBeUndefined();
  });

  it("stays the one of the last turn when a command only reads, so that a move from elsewhere is still told", () => {
    expect(sessionAfter({ outcome: "command", sessionId: "s2", turn: null }, "s1")).toBe("s1");
  });

  it.each([
    ["an answer", "answered", 1],
    ["a command that was kept", "command", 1],
    ["a rotation without a text", "rotated", null],
    ["a turn that failed", "failed", null],
  ] as const)("is that of %s", (_name, outcome, turn) => {
    expect(sessionAfter({ outcome, sessionId: "s2", turn }, "s1")).toBe("s2");
  });

  it("stays when a reply names none", () => {
    expect(sessionAfter({ outcome: "failed", sessionId: "", turn: null }, "s1")).toBe("s1");
  });
});
