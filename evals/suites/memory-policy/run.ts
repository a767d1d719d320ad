/** The evaluation of the policy gate: precision and recall by rule, on labelled texts. */
import Table from "cli-table3";
import { createSecretlintScanner } from "#memory/policy/secretlint-scanner.ts";
import { POLICY_CASES } from "./cases.ts";
import { HELD_OUT, type HeldOutSet } from "./held-out.ts";
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

/** One line a held-out set: what it is now, and what it was before any rule was changed for it. */
function heldOutText({ name, cases, first }: HeldOutSet, { total, misses }: PolicyMeasure): string {
  const secrets = cases.filter(({ rule }) => rule !== null).length;
  const now = `precision ${total.precision.toFixed(3)}, recall ${total.recall.toFixed(3)}`;
  const before = `precision ${first.precision.toFixed(3)}, recall ${first.recall.toFixed(3)}`;
  const wrong = misses.filter(({ case: { rule }, decided }) => (rule === null) !== (decided === null));
  return [
    `${name}: ${secrets} secrets, ${cases.length - secrets} harmless: ${now}; when first seen ${before}`,
    ...wrong.map(missText),
  ].join("\n");
}

/** Runs the texts. @returns the exit code: 1 when the gate is below its mark */
export async function runPolicyEval(args: readonly string[], out: (text: string) => void): Promise<number> {
  const scan = createSecretlintScanner();
  const measure = await measurePolicy(POLICY_CASES, scan);
  const heldOut = await Promise.all(
    HELD_OUT.map(async (set) => ({ set, measure: await measurePolicy(set.cases, scan) })),
  );
  out(
    args.includes("--json")
      ? JSON.stringify({ ...measure, heldOut: heldOut.map((one) => one.measure) }, null, 2)
      : [policyReport(measure), ...heldOut.map((one) => heldOutText(one.set, one.measure))].join("\n\n"),
  );
  const totals = [measure, ...heldOut.map((one) => one.measure)].map(({ total }) => total);
  return totals.every(({ precision, recall }) => precision >= LEAST.precision && recall >= LEAST.recall)
    ? 0
    : 1;
}
