/** All labelled texts of the policy gate. */
import { ACCOUNT_NEGATIVES, ACCOUNT_POSITIVES } from "./accounts.ts";
import { NEGATIVES } from "./negatives.ts";
import type { PolicyCase } from "./policy-case.ts";
import { POSITIVES } from "./positives.ts";
import { SECOND_NEGATIVES, SECOND_POSITIVES } from "./second-set.ts";
import { UNTRUSTED_NEGATIVES, UNTRUSTED_POSITIVES } from "./untrusted.ts";

/** What has to be stopped, then what has to pass. */
export const POLICY_CASES: readonly PolicyCase[] = [
  ...POSITIVES,
  ...UNTRUSTED_POSITIVES,
  ...SECOND_POSITIVES,
  ...ACCOUNT_POSITIVES,
  ...NEGATIVES,
  ...UNTRUSTED_NEGATIVES,
  ...SECOND_NEGATIVES,
  ...ACCOUNT_NEGATIVES,
];
