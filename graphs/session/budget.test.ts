import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  judgeBudget,
  limitNotice,
  noAnswerText,
  notRunText,
  spend,
  spentOf,
  type Spent,
  type TurnLimits,
} from "./budget.ts";

const LIMITS: TurnLimits = { modelCalls: 8, toolCalls: 24, turnTokens: 200_000, turnMs: 300_000 };
const spent = (used: Partial<Spent> = {}): Spent => ({
  modelCalls: 0,
  toolCalls: 0,
  tokens: 0,
  ms: 0,
  ...used,
});

describe("judgeBudget", () => {
  it("lets a call be made while all budgets have something left", () => {
    const nearly = spent({ modelCalls: 6, toolCalls: 23, tokens: 199_999, ms: 299_999 });
    expect(judgeBudget("model", nearly, LIMITS)).toEqual({ action: "go" });
    expect(judgeBudget("tool", nearly, LIMITS)).toEqual({ action: "go" });
  });

  it.each([
    ["model", { ms: 300_000 }, "end", { kind: "time", used: 300_000, limit: 300_000 }],
    ["tool", { ms: 300_001 }, "end", { kind: "time", used: 300_001, limit: 300_000 }],
    ["model", { tokens: 200_000 }, "end", { kind: "tokens", used: 200_000, limit: 200_000 }],
    ["tool", { tokens: 250_000 }, "end", { kind: "tokens", used: 250_000, limit: 200_000 }],
    ["model", { modelCalls: 7 }, "answer", { kind: "modelCalls", used: 8, limit: 8 }],
    ["model", { modelCalls: 8 }, "end", { kind: "modelCalls", used: 8, limit: 8 }],
    ["tool", { modelCalls: 8 }, "end", { kind: "modelCalls", used: 8, limit: 8 }],
    ["tool", { toolCalls: 24 }, "answer", { kind: "toolCalls", used: 24, limit: 24 }],
  ] as const)("before a %s call, with %j used: %s", (next, used, action, limit) => {
    expect(judgeBudget(next, spent(used), LIMITS)).toEqual({ action, limit });
  });

  it("asks the model once more when only tool calls are used up", () => {
    expect(judgeBudget("model", spent({ toolCalls: 24 }), LIMITS)).toEqual({ action: "go" });
  });

  it("knows no limit of tokens and of time at 0", () => {
    const unlimited = { ...LIMITS, turnTokens: 0, turnMs: 0 };
    expect(judgeBudget("model", spent({ tokens: 1e9, ms: 1e9 }), unlimited)).toEqual({ action: "go" });
  });

  it("ends every turn: with any limits, calls that all ask for tools run out", () => {
    const limits = fc.record({
      modelCalls: fc.integer({ min: 1, max: 40 }),
      toolCalls: fc.integer({ min: 1, max: 50 }),
      turnTokens: fc.integer({ min: 0, max: 5000 }),
      turnMs: fc.integer({ min: 0, max: 5000 }),
    });
    fc.assert(
      fc.property(limits, fc.integer({ min: 1, max: 100 }), (limits, callsEach) => {
        let used = spent();
        let steps = 0;
        while (judgeBudget("model", used, limits).action === "go") {
          used = { ...used, modelCalls: used.modelCalls + 1, tokens: used.tokens + 100, ms: used.ms + 100 };
          for (let call = 0; call < callsEach && judgeBudget("tool", used, limits).action === "go"; call += 1)
            used = { ...used, toolCalls: used.toolCalls + 1, ms: used.ms + 10 };
          steps += 1;
        }
        expect(steps).toBeLessThanOrEqual(limits.modelCalls);
        expect(used.toolCalls).toBeLessThanOrEqual(limits.toolCalls);
      }),
    );
  });
});

describe("spend", () => {
  it("adds to what a turn has used, also to one that was stored before there were budgets", () => {
    const before = { modelCalls: 2 };
    const once = spend(before, { modelCalls: 1, tokens: 10, ms: 0.4 });
    expect(once).toEqual({ modelCalls: 3, spent: { toolCalls: 0, tokens: 10, ms: 1 } });
    const twice = spend(once, { toolCalls: 1, ms: 5 });
    expect(spentOf(twice)).toEqual({ modelCalls: 3, toolCalls: 1, tokens: 10, ms: 6 });
  });
});

describe("the words of a limit", () => {
  it("name the number and the setting that raises it", () => {
    expect(limitNotice({ kind: "toolCalls", used: 24, limit: 24 })).toBe(
      "This turn ended at its limit of 24 tool calls; what was done by then is kept. Ask to go on, or raise limits.toolCalls in config.json.",
    );
    expect(limitNotice({ kind: "time", used: 300_004, limit: 300_000 })).toContain("300 seconds");
    expect(limitNotice({ kind: "time", used: 300_004, limit: 300_000 })).toContain("limits.turnMs");
    expect(limitNotice({ kind: "tokens", used: 9, limit: 9 })).toContain("limits.turnTokens");
    expect(notRunText({ kind: "modelCalls", used: 1, limit: 1 })).toContain("(1 model call)");
    expect(noAnswerText({ kind: "time", used: 1000, limit: 1000 })).toContain("(1 second)");
  });
});
