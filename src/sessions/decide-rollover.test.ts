import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  decideReversal,
  decideTopic,
  decideWithoutTopic,
  mayReverse,
  topicGate,
  type RolloverQuestion,
  type TopicFinding,
  type TopicEvidence,
} from "./decide-rollover.ts";
import { wholePolicy } from "./rollover-policy.ts";
import { verdictSchema, type ControlModel, type RotateVerdict, type StayVerdict } from "./verdict.ts";

const HOUR = 3_600_000;
const NOW = Date.parse("2026-03-01T12:00:00.000Z");
const ago = (ms: number): string => new Date(NOW - ms).toISOString();

function question(semantic: object = {}, changes: Partial<RolloverQuestion> = {}): RolloverQuestion {
  return {
    nowMs: NOW,
    clocks: { firstActivityAt: ago(HOUR), lastActivityAt: ago(HOUR) },
    turns: 3,
    policy: wholePolicy({ semantic: { enabled: true, ...semantic } }),
    ...changes,
  };
}

const stay: StayVerdict = { action: "stay", reason: "withinWindow", idleMs: HOUR };
const decidedBy: ControlModel = { model: "scripted:x", level: "session" };
const found = (evidence: TopicEvidence, confirmed = 0): TopicFinding => ({ evidence, decidedBy, confirmed });
const shift = (confidence: number, confirmed = 0) => found({ kind: "shift", confidence }, confirmed);
const same = (confidence: number) => found({ kind: "same", confidence });

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
      decidedBy,
    });
  });

  it("stays just below the threshold", () => {
    expect(decideTopic(stay, question({ threshold: 0.8 }), shift(0.799))).toEqual({
      ...stay,
      semantic: {
        result: "unknown",
        confidence: 0.799,
        why: "a shift at 0.80 is below the threshold 0.80",
        decidedBy,
      },
    });
  });

  it("stays when the topic is the same, however sure the classifier is", () => {
    expect(decideTopic(stay, question(), same(1))).toEqual({
      ...stay,
      semantic: { result: "same", confidence: 1, decidedBy },
    });
  });

  it("stays without evidence and says why", () => {
    expect(decideTopic(stay, question(), found({ kind: "unknown", why: "timeout" }))).toEqual({
      ...stay,
      semantic: { result: "unknown", why: "timeout", decidedBy },
    });
  });

  it("stays until as many messages in a row as configured have changed the topic", () => {
    const after = (confirmed: number) =>
      decideTopic(stay, question({ confirmations: 3 }), shift(1, confirmed));
    expect(after(0)).toMatchObject({ action: "stay", semantic: { result: "unconfirmed", confirmed: 1 } });
    expect(after(1)).toMatchObject({ action: "stay", semantic: { result: "unconfirmed", confirmed: 2 } });
    expect(after(2)).toMatchObject({ action: "rotate", trigger: "semantic", confirmations: 3 });
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
      }),
    );
    fc.assert(
      fc.property(evidence, share, fc.integer({ min: 1, max: 3 }), (said, threshold, confirmations) => {
        const verdict = decideTopic(stay, question({ threshold, confirmations }), found(said));
        const wanted = said.kind === "shift" && said.confidence >= threshold && confirmations === 1;
        expect(verdict.action === "rotate").toBe(wanted);
        expect(verdictSchema.parse(verdict)).toEqual(verdict);
      }),
    );
  });
});

describe("the window in which a change of topic is undone by itself", () => {
  const semantic: RotateVerdict = {
    action: "rotate",
    trigger: "semantic",
    confidence: 0.9,
    threshold: 0.8,
    turns: 3,
    confirmations: 1,
    decidedBy,
  };

  it("is open for as many turns after the rollover as configured", () => {
    const at = (turns: number) => mayReverse(question({}, { turns }), semantic);
    expect([0, 1, 2, 3].map(at)).toEqual([false, true, true, false]);
  });

  it("is closed in a session that something else opened, and while the rule is off", () => {
    const command: RotateVerdict = { action: "rotate", trigger: "command", command: "/new" };
    expect(mayReverse(question({}, { turns: 1 }), command)).toBe(false);
    expect(mayReverse(question({}, { turns: 1 }), undefined)).toBe(false);
    expect(mayReverse(question({ enabled: false }, { turns: 1 }), semantic)).toBe(false);
  });
});

describe("a reversal", () => {
  it("is made when what was said since belongs to the old topic, at the threshold", () => {
    expect(decideReversal(stay, question({}, { turns: 1 }), same(0.8))).toEqual({
      action: "rotate",
      trigger: "reversal",
      confidence: 0.8,
      threshold: 0.8,
      turns: 1,
      decidedBy,
    });
  });

  it.each<[string, TopicFinding, string]>([
    ["weak evidence", same(0.79), "notReversed"],
    ["the new topic going on", shift(0.99), "notReversed"],
    ["no evidence", found({ kind: "unknown", why: "timeout" }), "unknown"],
    ["a weak shift", shift(0.2), "unknown"],
  ])("is not made by %s", (_what, evidence, result) => {
    expect(decideReversal(stay, question({}, { turns: 1 }), evidence)).toMatchObject({
      action: "stay",
      semantic: { result },
    });
  });
});
