/** Counts and shows, label by label, which texts of a public set the gate refuses, and how many of its refusals a label explains. */
import Table from "cli-table3";
import { checkText } from "#memory/policy/check-text.ts";
import type { PolicyRule } from "#memory/policy/verdict.ts";
import type { SecretScanner } from "#memory/policy/secret-scanner.ts";
import { PASSED, REFUSED, type LabelledSet, type LabelledText } from "./labelled-texts.ts";

/** One label that has to be refused, over the texts that carry a value of it. */
export interface LabelScore {
  readonly label: string;
  readonly texts: number;
  readonly refused: number;
  /** Texts refused by a rule that this label names, with or without the label. */
  readonly byRule: number;
  /** Of those, texts in which a label that names the rule stands. */
  readonly explained: number;
}

/** What the gate does with a set. */
export interface LabelMeasure {
  readonly labels: readonly LabelScore[];
  /** Texts with something to refuse, and how many of them are refused. */
  readonly toRefuse: number;
  readonly refused: number;
  /** Texts with nothing but what may pass, and how many of them are refused. */
  readonly toPass: number;
  readonly refusedWrongly: number;
  /** Texts whose labels say too little; they are in no number. */
  readonly unclear: number;
  readonly misses: readonly { readonly text: string; readonly decided: PolicyRule | null }[];
}

interface Judged {
  readonly text: string;
  /** Labels with a value to refuse. */
  readonly labels: ReadonlySet<string>;
  readonly kind: "refuse" | "pass" | "unclear";
  readonly decided: PolicyRule | null;
}

/** Judges every text as said by the owner; limits of size and form are not counted, they are about no label. */
export async function measureLabels(
  texts: readonly LabelledText[],
  scan: SecretScanner,
): Promise<LabelMeasure> {
  const judged: Judged[] = [];
  for (const one of texts) judged.push(await judge(one, scan));
  const names = [...new Set(judged.flatMap(({ labels }) => [...labels]))].toSorted();
  const of = (kind: Judged["kind"]): Judged[] => judged.filter((one) => one.kind === kind);
  const isRefused = ({ decided }: Judged): boolean => decided !== null;
  return {
    labels: names.map((label) => scoreOf(label, judged)),
    toRefuse: of("refuse").length,
    refused: of("refuse").filter(isRefused).length,
    toPass: of("pass").length,
    refusedWrongly: of("pass").filter(isRefused).length,
    unclear: of("unclear").length,
    misses: judged.filter((one) => one.kind !== "unclear" && (one.kind === "refuse") !== isRefused(one)),
  };
}

const OF_FORM: ReadonlySet<PolicyRule> = new Set<PolicyRule>(["empty", "too_long", "not_one_fact"]);

async function judge({ text, spans }: LabelledText, scan: SecretScanner): Promise<Judged> {
  const verdict = await checkText(text, { scan, isTrusted: true });
  const rule = verdict.action === "deny" ? verdict.denial.rule : null;
  const values = spans.filter(({ label, value }) => REFUSED[label]?.isValue(value));
  const isClear = spans.every(({ label }) => PASSED.has(label));
  return {
    text,
    labels: new Set(values.map(({ label }) => label)),
    kind: values.length > 0 ? "refuse" : isClear ? "pass" : "unclear",
    decided: rule === null || OF_FORM.has(rule) ? null : rule,
  };
}

function scoreOf(label: string, judged: readonly Judged[]): LabelScore {
  const names = (one: Judged, rule: PolicyRule): boolean =>
    [...one.labels].some((other) => REFUSED[other]?.rules.includes(rule));
  const withLabel = judged.filter(({ labels }) => labels.has(label));
  const byRule = judged.filter(({ decided }) => decided !== null && REFUSED[label]?.rules.includes(decided));
  return {
    label,
    texts: withLabel.length,
    refused: withLabel.filter(({ decided }) => decided !== null).length,
    byRule: byRule.length,
    explained: byRule.filter((one) => one.decided !== null && names(one, one.decided)).length,
  };
}

/** A half of a set and what the gate does with it. */
export interface MeasuredHalf {
  readonly set: LabelledSet["name"];
  readonly half: "tune" | "held-out";
  readonly measure: LabelMeasure;
}

const share = (part: number, whole: number): string => (whole === 0 ? "–" : (part / whole).toFixed(3));

/** A table by label, then the two decisions over all of them; texts of the held-out half are never shown. */
export function labelReport({ set, half, measure }: MeasuredHalf): string {
  const table = new Table({
    head: ["label", "texts", "refused", "recall", "refused by its rule", "precision"],
    style: { head: [], border: [], compact: true },
  });
  table.push(...measure.labels.map(rowOf));
  return [`${set}, ${half} half`, table.toString(), totalsText(measure), ...missesText(half, measure)].join(
    "\n",
  );
}

function rowOf({ label, texts, refused, byRule, explained }: LabelScore): (string | number)[] {
  return [label, texts, refused, share(refused, texts), byRule, share(explained, byRule)];
}

function totalsText({ toRefuse, refused, toPass, refusedWrongly, unclear }: LabelMeasure): string {
  return (
    `all: ${refused} of ${toRefuse} refused (recall ${share(refused, toRefuse)}), ${refusedWrongly} of ${toPass} that may pass ` +
    `refused (precision ${share(refused, refused + refusedWrongly)}); ${unclear} with labels that say too little`
  );
}

function missesText(half: MeasuredHalf["half"], { misses }: LabelMeasure): string[] {
  if (half === "held-out") return [];
  return misses.map(
    ({ text, decided }) =>
      `${decided === null ? "missed" : `refused by ${decided}`}: ${JSON.stringify(text.slice(0, 120))}`,
  );
}
