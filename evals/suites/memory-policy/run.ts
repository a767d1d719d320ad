/** The evaluation of the policy gate: precision and recall by rule, on labelled texts. */
import Table from "cli-table3";
import { createSecretlintScanner } from "#memory/policy/secretlint-scanner.ts";
import { POLICY_CASES } from "./cases.ts";
import { measurePolicy, type Miss, type PolicyMeasure, type RuleScore } from "./measure.ts";

/** Below these the gate is not good enough. */
const LEAST = { precision: 0.98, recall: 0.98 };

/** The table for people. */
function policyReport({ rules, total, misses }: PolicyMeasure): string {
  const table = new Table({
    head: ["rule", "texts", "stopped", "wrongly", "missed", "precision", "recall"],
    style: { head: [], border: [], compact: true },
  });
  for (const score of [...rules, total]) table.push(rowOf(score));
  return [table.toString(), ...misses.map(missText)].join("\n");
}

function rowOf(score: RuleScore): (string | number)[] {
  const { rule, cases, truePositives, falsePositives, falseNegatives, precision, recall } = score;
  return [
    rule,
    cases,
    truePositives,
    falsePositives,
    falseNegatives,
    precision.toFixed(3),
    recall.toFixed(3),
  ];
}

function missText({ case: { text, saidBy, rule }, decided }: Miss): string {
  return `${saidBy}: ${JSON.stringify(text.slice(0, 80))} is ${rule ?? "to pass"}, decided ${decided ?? "pass"}`;
}

/** Runs the texts. @returns the exit code: 1 when the gate is below its mark */
export async function runPolicyEval(args: readonly string[], out: (text: string) => void): Promise<number> {
  const measure = await measurePolicy(POLICY_CASES, createSecretlintScanner());
  out(args.includes("--json") ? JSON.stringify(measure, null, 2) : policyReport(measure));
  const { precision, recall } = measure.total;
  return precision >= LEAST.precision && recall >= LEAST.recall ? 0 : 1;
}
