import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decideTopic, decideWithoutTopic, topicGate, type RolloverQuestion } from "./decide-rollover.ts";
import { rolloverPolicySchema } from "./rollover-policy.ts";
import { verdictSchema, type StayVerdict } from "./verdict.ts";

const HOUR = 3_600_000;
const NOW = Date.parse("2026-03-01T12:00:00.000Z");
const ago = (ms: number): string => new Date(NOW - ms).toISOString();

function question(semantic: object = {}, changes: Partial<RolloverQuestion> = {}): RolloverQuestion {
  return {
    nowMs: NOW,
    clocks: { firstActivityAt: ago(HOUR), lastActivityAt: ago(HOUR) },
    turns: 3,
    policy: rolloverPolicySchema.parse({ semantic: { enabled: true, ...semantic } }),
    ...changes,
  };
}

const stay: StayVerdict = { action: "stay", reason: "withinWindow", idleMs: HOUR };
const shift = (confidence: number) => ({ kind: "shift" as const, confidence, decidedBy: "scripted:x" });

describe("a decision without a topic", () => {
  it("ends the session by command, even one without a turn or one that is due by time", () => {
    const verdict = { action: "rotate", trigger: "command", command: "/new" };
    const empty = { firstActivityAt: null, lastActivityAt: null };
    const overdue = { firstActivityAt: ago(99 * HOUR), lastActivityAt: ago(99 * HOUR) };
    for (const clocks of [empty, overdue])
      expect(decideWithoutTopic(question({}, { clocks, hardCommand: "/new" }))).toEqual(verdict);
  });

  it("ends the session by time when no command does", () => {
    const clocks = { firstActivityAt: ago(13 * HOUR), lastActivityAt: ago(13 * HOUR) };
    expect(decideWithoutTopic(question({}, { clocks })).action).toBe("rotate");
  });

  it("stays with the numbers otherwise", () => {
    expect(decideWithoutTopic(question())).toMatchObject({
      action: "stay",
      idleMs: HOUR,
      limitMs: 12 * HOUR,
    });
  });
});

describe("the gate before the topic classifier", () => {
  it("is open when nothing speaks against it", () => {
    expect(topicGate(question())).toBeUndefined();
  });

  it("is closed when change of topic is not configured", () => {
    expect(topicGate(question({ enabled: false }, { turns: 0 }))).toEqual({ result: "off" });
  });

  it("is closed one turn before the least number of turns, and open at it", () => {
    expect(topicGate(question({ minTurns: 4 }))).toEqual({ result: "tooShort", why: "3 of 4 turns" });
    expect(topicGate(question({ minTurns: 3 }))).toBeUndefined();
  });

  it("is closed until the cooldown is over, and open from that moment", () => {
    const at = (ms: number) => topicGate(question({ cooldown: HOUR }, { lastSemanticAt: ago(ms) }));
    expect(at(HOUR - 1)).toEqual({ result: "cooldown" });
    expect(at(HOUR)).toBeUndefined();
  });

  it("is closed when the clock stands before the last change of topic", () => {
    expect(topicGate(question({}, { lastSemanticAt: ago(-HOUR) }))).toEqual({ result: "cooldown" });
  });

  it("is open at once when there is no cooldown", () => {
    expect(topicGate(question({ cooldown: 0 }, { lastSemanticAt: ago(0) }))).toBeUndefined();
  });
});

describe("a decision by topic", () => {
  it("ends the session at the threshold, with the numbers", () => {
    expect(decideTopic(stay, question({ threshold: 0.8 }), shift(0.8))).toEqual({
      action: "rotate",
      trigger: "semantic",
      confidence: 0.8,
      threshold: 0.8,
      turns: 3,
      confirmations: 1,
      decidedBy: "scripted:x",
    });
  });

  it("stays just below the threshold", () => {
    expect(decideTopic(stay, question({ threshold: 0.8 }), shift(0.799))).toEqual({
      ...stay,
      semantic: { result: "belowThreshold", confidence: 0.799 },
    });
  });

  it("stays when the topic is the same, however sure the classifier is", () => {
    const same = { kind: "same" as const, confidence: 1, decidedBy: "x" };
    expect(decideTopic(stay, question(), same)).toEqual({
      ...stay,
      semantic: { result: "same", confidence: 1 },
    });
  });

  it("stays without evidence and says why", () => {
    expect(decideTopic(stay, question(), { kind: "unknown", why: "timeout" })).toEqual({
      ...stay,
      semantic: { result: "unknown", why: "timeout" },
    });
  });

  it("stays when a second message has to confirm it", () => {
    expect(decideTopic(stay, question({ confirmations: 2 }), shift(1))).toMatchObject({
      action: "stay",
      semantic: { result: "unconfirmed" },
    });
  });

  it.each([Number.NaN, 7, -1, Infinity])("takes the confidence %s for no evidence", (confidence) => {
    expect(decideTopic(stay, question({ threshold: 0.8 }), shift(confidence))).toMatchObject({
      action: "stay",
      semantic: { result: "unknown" },
    });
  });

  it("ends the session only by a shift at the threshold, and always gives a verdict that can be stored", () => {
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    const evidence = fc.oneof(
      fc.record({ kind: fc.constant("unknown" as const), why: fc.string() }),
      fc.record({
        kind: fc.constantFrom("same" as const, "shift" as const),
        confidence: share,
        decidedBy: fc.string(),
      }),
    );
    fc.assert(
      fc.property(evidence, share, fc.integer({ min: 1, max: 3 }), (found, threshold, confirmations) => {
        const verdict = decideTopic(stay, question({ threshold, confirmations }), found);
        const wanted = found.kind === "shift" && found.confidence >= threshold && confirmations === 1;
        expect(verdict.action === "rotate").toBe(wanted);
        expect(verdictSchema.parse(verdict)).toEqual(verdict);
      }),
    );
  });
});
