/** Runs labelled texts through the policy gate and counts, by rule, what it stopped rightly, wrongly and not at all. */
import { checkText } from "#memory/policy/check-text.ts";
import type { PolicyRule, PolicyVerdict } from "#memory/policy/verdict.ts";
import type { SecretScanner } from "#memory/policy/secret-scanner.ts";
import type { PolicyCase } from "./cases.ts";

/** Counts of one rule; `stopped` and `passed` are the two decisions over all rules. */
export interface RuleScore {
  readonly rule: PolicyRule | "all rules";
  /** Texts with this label. */
  readonly cases: number;
  readonly truePositives: number;
  readonly falsePositives: number;
  readonly falseNegatives: number;
  /** 1 when nothing was stopped. */
  readonly precision: number;
  readonly recall: number;
}

/** A text on which gate and label differ. */
export interface Miss {
  readonly case: PolicyCase;
  readonly decided: PolicyRule | null;
}

/** How well the gate did. */
export interface PolicyMeasure {
  readonly rules: readonly RuleScore[];
  /** Stopped or let through, whatever the rule. */
  readonly total: RuleScore;
  readonly misses: readonly Miss[];
}

interface Decided {
  readonly label: PolicyRule | null;
  readonly decided: PolicyRule | null;
}

/** Judges every case. */
export async function measurePolicy(
  cases: readonly PolicyCase[],
  scan: SecretScanner,
): Promise<PolicyMeasure> {
  const results: Decided[] = [];
  const misses: Miss[] = [];
  for (const one of cases) {
    const verdict = await checkText(one.text, { scan, isTrusted: one.saidBy === "owner" });
    const decided = ruleOf(verdict);
    results.push({ label: one.expected, decided });
    if (decided !== one.expected) misses.push({ case: one, decided });
  }
  const rules = [...new Set(results.flatMap(({ label, decided }) => [label, decided]))].filter(
    (rule) => rule !== null,
  );
  const stopped = results.map(({ label, decided }) => ({ label: label !== null, decided: decided !== null }));
  return {
    rules: rules.map((rule) =>
      scoreOf(
        rule,
        results.map(({ label, decided }) => ({ label: label === rule, decided: decided === rule })),
      ),
    ),
    total: scoreOf("all rules", stopped),
    misses,
  };
}

function ruleOf(verdict: PolicyVerdict): PolicyRule | null {
  switch (verdict.action) {
    case "allow":
      return null;
    case "deny":
      return verdict.denial.rule;
    case "quarantine":
      return verdict.rule;
  }
}

function scoreOf(
  rule: RuleScore["rule"],
  results: readonly { readonly label: boolean; readonly decided: boolean }[],
): RuleScore {
  const count = (label: boolean, decided: boolean): number =>
    results.filter((result) => result.label === label && result.decided === decided).length;
  const [truePositives, falsePositives, falseNegatives] = [
    count(true, true),
    count(false, true),
    count(true, false),
  ];
  return {
    rule,
    cases: truePositives + falseNegatives,
    truePositives,
    falsePositives,
    falseNegatives,
    precision: ratio(truePositives, truePositives + falsePositives),
    recall: ratio(truePositives, truePositives + falseNegatives),
  };
}

function ratio(part: number, whole: number): number {
  return whole === 0 ? 1 : part / whole;
}
