/** The evaluation of the policy gate: precision and recall by rule, on labelled texts. */
import Table from "cli-table3";
import { createSecretlintScanner, type SecretScanner } from "#memory/policy/secret-scanner.ts";
import { HELD_OUT, type HeldOutSet, POLICY_CASES } from "./cases.ts";
import { measurePolicy, type Miss, type PolicyMeasure, type RuleScore } from "./measure.ts";
import { LABELLED_FILES, readLabelledSets } from "./public/labelled-texts.ts";
import { labelReport, measureLabels, type MeasuredHalf } from "./public/measure-labels.ts";

/** What {@link runPolicyEval} may be given. */
export interface PolicyEvalOptions {
  /** Where the public sets are; without it they are not measured. */
  readonly dataFolder?: string;
}

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

function missText({ case: { text, saidBy, expected }, decided }: Miss): string {
  return `${saidBy}: ${JSON.stringify(text.slice(0, 80))} is ${expected ?? "to pass"}, decided ${decided ?? "pass"}`;
}

/** One line a held-out set: what it is now, and what it was before any rule was changed for it. */
function heldOutText({ name, cases, first }: HeldOutSet, { total, misses }: PolicyMeasure): string {
  const secrets = cases.filter(({ expected }) => expected !== null).length;
  const now = `precision ${total.precision.toFixed(3)}, recall ${total.recall.toFixed(3)}`;
  const before = `precision ${first.precision.toFixed(3)}, recall ${first.recall.toFixed(3)}`;
  const wrong = misses.filter(
    ({ case: { expected }, decided }) => (expected === null) !== (decided === null),
  );
  return [
    `${name}: ${secrets} to stop, ${cases.length - secrets} harmless: ${now}; when first seen ${before}`,
    ...wrong.map(missText),
  ].join("\n");
}

/** The public sets, half by half; undefined where `folder` lacks them. */
async function measurePublic(folder: string, scan: SecretScanner): Promise<MeasuredHalf[] | undefined> {
  const sets = readLabelledSets(folder);
  if (sets === undefined) return undefined;
  const halves: MeasuredHalf[] = [];
  for (const { name, tune, heldOut } of sets)
    halves.push(
      { set: name, half: "tune", measure: await measureLabels(tune, scan) },
      { set: name, half: "held-out", measure: await measureLabels(heldOut, scan) },
    );
  return halves;
}

/** Runs the texts. @returns the exit code: 1 when the gate is below its mark, or misses more than is known */
export async function runPolicyEval(
  args: readonly string[],
  out: (text: string) => void,
  { dataFolder }: PolicyEvalOptions = {},
): Promise<number> {
  const scan = createSecretlintScanner();
  const measure = await measurePolicy(POLICY_CASES, scan);
  const heldOut = await Promise.all(
    HELD_OUT.map(async (set) => ({ set, measure: await measurePolicy(set.cases, scan) })),
  );
  const ofPublic = dataFolder === undefined ? [] : await measurePublic(dataFolder, scan);
  const noPublic = `${dataFolder} has no ${LABELLED_FILES.join(" and ")}; LILY_DATA names another folder.`;
  out(
    args.includes("--json")
      ? JSON.stringify({ ...measure, heldOut: heldOut.map((one) => one.measure), public: ofPublic }, null, 2)
      : [
          policyReport(measure),
          ...heldOut.map((one) => heldOutText(one.set, one.measure)),
          ...(ofPublic?.map(labelReport) ?? [noPublic]),
        ].join("\n\n"),
  );
  const isGood = measure.total.precision >= LEAST.precision && measure.total.recall >= LEAST.recall;
  const isAsKnown = heldOut.every(
    ({ set, measure: { total } }) => total.falsePositives === 0 && total.falseNegatives <= set.missed,
  );
  return isGood && isAsKnown ? 0 : 1;
}
