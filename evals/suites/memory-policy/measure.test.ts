import { describe, expect, it } from "vitest";
import { POLICY_RULES } from "#memory/policy/verdict.ts";
import { createSecretlintScanner } from "#memory/policy/secret-scanner.ts";
import { HELD_OUT, POLICY_CASES } from "./cases.ts";
import { measurePolicy } from "./measure.ts";
import { runPolicyEval } from "./run.ts";

describe("the labelled texts of the policy gate", () => {
  it("are at least 150 of each kind, none twice, with every rule among them", () => {
    const stopped = POLICY_CASES.filter(({ expected }) => expected !== null);
    expect(stopped.length).toBeGreaterThanOrEqual(150);
    expect(POLICY_CASES.length - stopped.length).toBeGreaterThanOrEqual(150);
    expect(new Set(POLICY_CASES.map(({ text, saidBy }) => `${saidBy}:${text}`)).size).toBe(
      POLICY_CASES.length,
    );
    expect(new Set(stopped.map(({ expected }) => expected))).toEqual(
      // What waits for its domain and speaker, for what was forgotten before, or as an offer, is no matter of the text.
      new Set(
        Object.keys(POLICY_RULES).filter(
          (rule) => !["instruction_like", "forgotten_before", "offered"].includes(rule),
        ),
      ),
    );
  });

  it("are decided as they are labelled", async () => {
    const { misses } = await measurePolicy(POLICY_CASES, createSecretlintScanner());
    expect(misses).toEqual([]);
  });
});

describe("the held-out texts", () => {
  it.each(HELD_OUT.map(({ name, cases, missed }) => [name, cases, missed] as const))(
    "are stopped or let through as they are labelled, but for those that are known to be missed: %s",
    async (_name, cases, missed) => {
      const { total } = await measurePolicy(cases, createSecretlintScanner());
      expect(total).toMatchObject({ falsePositives: 0, falseNegatives: missed });
    },
  );

  it("are at least 20 to stop and as many harmless ones in each set, none of them in another set", () => {
    for (const { cases } of HELD_OUT) {
      const toStop = cases.filter(({ expected }) => expected !== null).length;
      expect(toStop).toBeGreaterThanOrEqual(20);
      expect(cases.length - toStop).toBeGreaterThanOrEqual(toStop / 2);
    }
    const sets = [POLICY_CASES, ...HELD_OUT.map(({ cases }) => cases)];
    const texts = sets.flat().map(({ text, saidBy }) => `${saidBy}:${text}`);
    expect(new Set(texts).size).toBe(texts.length);
  });
});

describe("the measure", () => {
  it("counts what is stopped wrongly and what is missed, by rule", async () => {
    const cases = [
      { id: "pass", text: "password: hunter2", saidBy: "owner", expected: "password" },
      { id: "my P", text: "my PIN is 4821", saidBy: "owner", expected: null },
      { id: "I li", text: "I like tea", saidBy: "owner", expected: "password" },
      { id: "I li", text: "I like jazz", saidBy: "owner", expected: null },
    ] as const;
    const { rules, total, misses } = await measurePolicy(cases, async () => []);
    const counts = {
      cases: 2,
      truePositives: 1,
      falsePositives: 1,
      falseNegatives: 1,
      precision: 0.5,
      recall: 0.5,
    };
    expect(rules).toEqual([{ rule: "password", ...counts }]);
    expect(total).toEqual({ rule: "all rules", ...counts });
    expect(misses).toHaveLength(2);
  });

  it("is printed by rule", async () => {
    const lines: string[] = [];
    expect(await runPolicyEval([], (text) => lines.push(text))).toBe(0);
    expect(lines.join("\n")).toMatch(/password .*1\.000/u);
  });
});
