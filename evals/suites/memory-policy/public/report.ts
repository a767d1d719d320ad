/** The tables of the public sets, for people. */
import Table from "cli-table3";
import type { LabelledSet } from "./labelled-texts.ts";
import type { LabelMeasure, LabelScore } from "./measure-labels.ts";

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
