/** The labelled texts of the policy gate: those that its rules were written by, and sets that were held out. */
import { z } from "zod";
import { readLines } from "#evals/data/read-lines.ts";
import { POLICY_RULE_NAMES } from "#memory/policy/verdict.ts";

const policyCaseSchema = z.strictObject({
  id: z.string(),
  text: z.string(),
  /** The rule that has to stop it; null when it has to pass. */
  expected: z.enum(POLICY_RULE_NAMES).nullable(),
  saidBy: z.enum(["owner", "assistant", "tool", "import"]).default("owner"),
});

/** A text, who says it, and what the gate has to do with it. All values are made up or published test values. */
export type PolicyCase = z.infer<typeof policyCaseSchema>;

const read = (name: string): PolicyCase[] => readLines(`policy/${name}.jsonl`, policyCaseSchema);

export const POLICY_CASES: readonly PolicyCase[] = read("known");

/** A set with its history. Once a rule was changed for a set, only its first numbers tell of texts that nobody has seen. */
export interface HeldOutSet {
  readonly name: string;
  readonly cases: readonly PolicyCase[];
  /** Precision and recall before any rule was changed for this set. */
  readonly first: { readonly precision: number; readonly recall: number };
  /** Texts that the gate should stop and does not. */
  readonly missed: number;
}

/** In the order in which they were written. No rule was changed for the last one. */
export const HELD_OUT: readonly HeldOutSet[] = [
  {
    name: "secrets of many services",
    cases: read("services"),
    first: { precision: 0.991, recall: 0.722 },
    missed: 0,
  },
  {
    name: "other services",
    cases: read("other-services"),
    first: { precision: 0.938, recall: 0.857 },
    missed: 0,
  },
  { name: "what people paste", cases: read("pasted"), first: { precision: 1, recall: 0.8 }, missed: 0 },
  {
    name: "what people paste, later",
    cases: read("pasted-later"),
    first: { precision: 1, recall: 0.8 },
    missed: 1,
  },
  {
    name: "what people paste, last",
    cases: read("pasted-last"),
    first: { precision: 1, recall: 0.867 },
    missed: 2,
  },
];
