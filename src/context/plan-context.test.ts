import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  GIVES_WAY,
  LINE_TOKENS,
  planContext,
  shareOf,
  type ContextCandidates,
  type ContextPlan,
  type PlanStep,
  type PlanTurn,
} from "./plan-context.ts";

const turn = (whole: number, changes: Partial<PlanTurn> = {}): PlanTurn => ({
  whole,
  collapsed: whole,
  shortened: Math.min(whole, 60),
  ...changes,
});
const step = (...results: number[]): PlanStep => ({
  call: 20,
  results: results.map((whole) => ({ whole, collapsed: Math.min(whole, 30) })),
});
const candidates = (changes: Partial<ContextCandidates>): ContextCandidates => ({
  budgetTokens: 1_000,
  system: 100,
  message: 50,
  parts: [],
  turns: [],
  steps: [],
  ...changes,
});

/** @throws when the message does not fit */
function planned(changes: Partial<ContextCandidates>): ContextPlan {
  const plan = planContext(candidates(changes));
  if (plan.kind === "refused") throw new Error("refused");
  return plan;
}

const totalOf = ({ tokens }: ContextPlan): number =>
  Object.values(tokens).reduce((total, some) => total + some, 0);
const count = (forms: readonly string[], form: string): number => forms.filter((one) => one === form).length;

describe("planning a context", () => {
  it("gives everything whole, and has nothing to say, where it fits", () => {
    const plan = planned({ turns: [turn(400), turn(450)] });
    expect(plan).toMatchObject({ turns: ["whole", "whole"], cuts: [] });
    expect(totalOf(plan)).toBe(1_000);
  });

  it("collapses old results first, then takes turns out, the oldest first, down to 70 % at once", () => {
    const plan = planned({
      turns: [turn(200), turn(200), turn(200), turn(300, { collapsed: 100 }), turn(200)],
    });
    expect(plan.turns).toEqual(["whole", "whole", "out", "out", "out"]);
    expect(totalOf(plan)).toBeLessThanOrEqual(700);
    const collapsed = planned({ turns: [turn(200), turn(700, { collapsed: 50 }), turn(100)] });
    expect(collapsed.turns).toEqual(["whole", "collapsed", "whole"]);
    expect(totalOf(collapsed)).toBeLessThanOrEqual(700);
  });

  it("leaves the beginning as it is while what was made room for is filled again", () => {
    let turns: PlanTurn[] = Array.from({ length: 12 }, () => turn(80));
    const firsts: number[] = [];
    for (let next = 0; next < 12; next += 1) {
      const plan = planned({ turns });
      turns = turns.map((one, index) => ({ ...one, was: plan.turns[index] ?? "whole" }));
      firsts.push(turns.length - count(plan.turns, "out"));
      turns = [turn(80), ...turns];
    }
    const moves = firsts.filter((given, index) => index > 0 && given <= (firsts[index - 1] ?? 0)).length;
    expect(moves).toBeLessThanOrEqual(5);
  });

  it("C-4 shortens a turn that is too big for itself, and keeps the smaller ones before it", () => {
    const plan = planned({ turns: [turn(5_000), turn(40), turn(40), turn(40)] });
    expect(plan.turns).toEqual(["shortened", "whole", "whole", "whole"]);
    expect(plan.cuts).toEqual([{ what: "turns", rule: "shortened", count: 1 }]);
  });

  it("C-2 collapses stale results and keeps those that the model has not read, cut to what fits", () => {
    const twenty = Array.from({ length: 20 }, () => step(3_900));
    const plan = planned({ budgetTokens: 12_000, steps: twenty });
    expect(totalOf(plan)).toBeLessThanOrEqual(12_000);
    expect(plan.steps.at(-1)).toBe("whole");
    expect(count(plan.steps, "collapsed")).toBeGreaterThan(15);
    const atOnce = planned({
      budgetTokens: 12_000,
      steps: [step(...Array.from({ length: 20 }, () => 3_900))],
    });
    expect(atOnce.resultTokens).toBe(300);
    expect(atOnce.cuts).toEqual([{ what: "results", rule: "shortened", count: 20 }]);
  });

  it("does not take the conversation out for one giant result", () => {
    const plan = planned({ turns: [turn(100), turn(100)], steps: [step(50_000)] });
    expect(plan.turns).toEqual(["whole", "whole"]);
    expect(plan.resultTokens).toBe(500);
  });

  it("has room for a summary of the turns that leave, and none where it is too long", () => {
    const turns = Array.from({ length: 10 }, () => turn(100));
    expect(planned({ turns, summary: 80 })).toMatchObject({
      turns: [...Array.from({ length: 4 }, () => "whole"), ...Array.from({ length: 6 }, () => "out")],
      tokens: { summary: 80 },
      cuts: [{ what: "turns", rule: "summary", count: 6 }],
    });
    const roomy = planned({ turns: turns.slice(0, 5), summary: 80 });
    expect(roomy.cuts).toEqual([]);
    const tight = planned({ turns, message: 800, summary: 150 });
    expect(tight.cuts).toMatchObject([{ what: "turns", rule: "oldest_first" }]);
    for (const { tokens } of [roomy, tight]) expect(tokens).not.toHaveProperty("summary");
  });

  it("keeps each part to its share of the budget", () => {
    const items = Array.from({ length: 40 }, () => 50);
    const parts = GIVES_WAY.map((name) => ({ name, items }));
    const { tokens } = planned({ budgetTokens: 12_000, parts });
    expect(tokens).toMatchObject({ persona: 1_800, profile: 800, ledger: 1_200, tools: 2_000 });
    expect(shareOf("profile", 2_000)).toBe(300);
  });

  it("lets pinned parts give way in their order where nothing else is left to give way", () => {
    const parts = GIVES_WAY.toReversed().map((name) => ({ name, items: [40, 40] }));
    const given = (message: number) => planned({ message, parts, turns: [turn(100)] }).given;
    expect(given(340)).toMatchObject({ evidence: 2, facts: 2, profile: 2, ledger: 2, tools: 2, persona: 2 });
    expect(given(500)).toMatchObject({ evidence: 0, facts: 1, profile: 2, ledger: 2, tools: 2, persona: 2 });
    expect(given(720)).toMatchObject({ evidence: 0, facts: 0, profile: 0, ledger: 0, tools: 1, persona: 2 });
  });

  it("refuses a message that does not fit beside the system's own text, with its size", () => {
    expect(planContext(candidates({ message: 5_000 }))).toEqual({
      kind: "refused",
      message: 5_000,
      system: 100,
      budgetTokens: 1_000,
    });
  });

  const size = fc.integer({ min: 0, max: 400 });
  const anyTurn = fc
    .record({
      whole: fc.oneof(size, fc.integer({ min: 400, max: 20_000 })),
      collapsed: size,
      shortened: fc.integer({ min: 0, max: 120 }),
      was: fc.constantFrom("whole" as const, "collapsed" as const, "shortened" as const),
    })
    .map(({ whole, collapsed, shortened, was }) => ({
      whole,
      collapsed: Math.min(whole, collapsed),
      shortened: Math.min(whole, collapsed, shortened),
      was,
    }));
  const anyStep = fc
    .record({ call: size, results: fc.array(fc.integer({ min: 0, max: 9_000 }), { maxLength: 6 }) })
    .map(({ call, results }) => ({ ...step(...results), call }));
  const anything: fc.Arbitrary<ContextCandidates> = fc
    .record({
      budgetTokens: fc.integer({ min: 300, max: 16_000 }),
      system: fc.integer({ min: 50, max: 200 }),
      message: fc.integer({ min: 4, max: 3_000 }),
      parts: fc.uniqueArray(
        fc.record({
          name: fc.constantFrom(...GIVES_WAY),
          items: fc.array(size, { maxLength: 12 }),
        }),
        { selector: ({ name }) => name },
      ),
      turns: fc.array(anyTurn, { maxLength: 40 }),
      out: fc.nat({ max: 10 }),
      hasMore: fc.boolean(),
      summary: fc.option(size, { nil: undefined }),
      steps: fc.array(anyStep, { maxLength: 12 }),
    })
    .map(({ out, summary, turns, ...rest }) => ({
      ...rest,
      turns: [...turns, ...Array.from({ length: out }, () => turn(100, { was: "out" }))],
      ...(summary === undefined ? {} : { summary }),
    }));

  it("never takes more than the budget, and refuses only a message that does not fit", () => {
    fc.assert(
      fc.property(anything, (from) => {
        const plan = planContext(from);
        const fits = from.system + from.message + 2 * LINE_TOKENS <= from.budgetTokens;
        expect(plan.kind).toBe(fits ? "plan" : "refused");
        if (plan.kind === "refused") return;
        expect(totalOf(plan)).toBeLessThanOrEqual(from.budgetTokens);
        expect(plan.tokens).toMatchObject({ system: from.system, message: from.message });
      }),
      { numRuns: 500 },
    );
  });

  it("has an entry for all that is not given whole, with how many it is", () => {
    fc.assert(
      fc.property(anything, (from) => {
        const plan = planContext(from);
        if (plan.kind === "refused") return;
        const told = (what: string, ...rules: string[]): number =>
          plan.cuts
            .filter((cut) => cut.what === what && rules.includes(cut.rule))
            .reduce((total, cut) => total + cut.count, 0);
        for (const { name, items } of from.parts)
          expect(told(name, "share", "room")).toBe(items.length - plan.given[name]);
        expect(told("turns", "oldest_first", "summary")).toBe(count(plan.turns, "out"));
        for (const form of ["collapsed", "shortened"])
          expect(told("turns", form)).toBe(count(plan.turns, form));
        expect(told("steps", "oldest_first")).toBe(count(plan.steps, "out"));
        expect(told("results", "collapsed")).toBe(
          plan.steps.reduce(
            (total, form, index) =>
              total + (form === "collapsed" ? (from.steps[index]?.results.length ?? 0) : 0),
            0,
          ),
        );
        if (from.hasMore || count(plan.turns, "out") > 0)
          expect(
            plan.cuts.filter(({ what, rule }) => what === "turns" && /oldest|summary/u.test(rule)),
          ).toHaveLength(1);
      }),
      { numRuns: 500 },
    );
  });

  it("lets pinned parts go only when older turns and steps are gone, in their order", () => {
    fc.assert(
      fc.property(anything, (from) => {
        const plan = planContext(from);
        if (plan.kind === "refused") return;
        const byRoom = plan.cuts.filter(({ rule }) => rule === "room").map(({ what }) => what);
        if (byRoom.length === 0) return;
        expect(plan.turns.every((form) => form === "out")).toBe(true);
        expect(plan.steps.slice(0, -1).every((form) => form === "out")).toBe(true);
        const last = GIVES_WAY.findLastIndex((name) => byRoom.includes(name));
        for (const name of GIVES_WAY.slice(0, last)) expect(plan.given[name]).toBe(0);
      }),
      { numRuns: 500 },
    );
  });

  it("takes turns and steps out from the oldest on, without a gap", () => {
    fc.assert(
      fc.property(anything, (from) => {
        const plan = planContext(from);
        if (plan.kind === "refused") return;
        const firstOut = plan.turns.indexOf("out");
        if (firstOut !== -1) expect(plan.turns.slice(firstOut).every((form) => form === "out")).toBe(true);
        const lastOut = plan.steps.lastIndexOf("out");
        expect(plan.steps.slice(0, lastOut + 1).every((form) => form === "out")).toBe(true);
        const lastCollapsed = plan.steps.lastIndexOf("collapsed");
        expect(plan.steps.slice(0, lastCollapsed + 1)).not.toContain("whole");
      }),
      { numRuns: 500 },
    );
  });

  it("gives the same plan again when it is made from its own outcome", () => {
    fc.assert(
      fc.property(anything, (from) => {
        const plan = planContext({ ...from, steps: [] });
        if (plan.kind === "refused") return;
        const turns = from.turns.map((one, index) => ({ ...one, was: plan.turns[index] ?? "whole" }));
        const again = planContext({ ...from, turns, steps: [] });
        expect(again.kind === "plan" && again.turns).toEqual(plan.turns);
      }),
      { numRuns: 300 },
    );
  });
});
