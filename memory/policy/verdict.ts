/** What the policy gate says about a text that wants to become a memory, always with the rule that decided. */
import { refused, type Envelope } from "#src/kernel/envelope.ts";
import type { PolicyRule } from "./policy-rules.ts";

export type { PolicyRule } from "./policy-rules.ts";

/** Something in a text that a rule objects to, by code unit. */
export interface Finding {
  readonly rule: PolicyRule;
  readonly start: number;
  readonly end: number;
}

/** A refusal. It never repeats what it objects to. */
export interface PolicyDenial {
  readonly rule: PolicyRule;
  readonly message: string;
  readonly next: string;
  /** The text with the value masked, which the gate would let through; absent where nothing is left to keep. */
  readonly safeText?: string;
}

/** Characters that a reader cannot see and that were removed. */
export interface HiddenText {
  readonly codes: readonly { readonly code: string; readonly name: string; readonly count: number }[];
}

/** The gate's answer. `text` is what may be stored: well formed, NFC, without hidden characters, trimmed. */
export type PolicyVerdict =
  | { readonly action: "allow"; readonly text: string; readonly hidden: HiddenText | null }
  | {
      readonly action: "quarantine";
      readonly rule: PolicyRule;
      readonly text: string;
      readonly hidden: HiddenText | null;
    }
  | { readonly action: "deny"; readonly denial: PolicyDenial; readonly hidden: HiddenText | null };

/** The envelope of a refusal: `memory_policy_denied` with the rule as data. */
export function denialEnvelope(denial: PolicyDenial): Envelope {
  return refused("memory_policy_denied", denial.message, {
    next: denial.next,
    data: { rule: denial.rule, ...(denial.safeText === undefined ? {} : { safe_text: denial.safeText }) },
  });
}
