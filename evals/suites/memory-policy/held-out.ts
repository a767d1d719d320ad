/** The texts that the rules were not written by, and what the gate did with them when it first saw them. */
import { FRESH_CASES } from "./held-out/fresh.ts";
import { heldOutInnocents } from "./held-out/innocents.ts";
import { LAST_CASES, LAST_ORDER_CASES } from "./held-out/last.ts";
import { LATER_CASES, LATER_ORDER_CASES } from "./held-out/later.ts";
import { ORDER_CASES } from "./held-out/orders.ts";
import { PASTED_CASES } from "./held-out/pasted.ts";
import { heldOutSecrets } from "./held-out/secrets.ts";
import type { PolicyCase } from "./policy-case.ts";

/** A set with its history. Once a rule was changed for a set, only its first numbers tell of texts that nobody has seen. */
export interface HeldOutSet {
  readonly name: string;
  readonly cases: readonly PolicyCase[];
  /** Precision and recall before any rule was changed for this set. */
  readonly first: { readonly precision: number; readonly recall: number };
  /** Texts that the gate should stop and does not. */
  readonly missed: number;
}

/** In the order in which they were written. */
export const HELD_OUT: readonly HeldOutSet[] = [
  {
    name: "held-out",
    cases: [...heldOutSecrets(), ...heldOutInnocents()],
    first: { precision: 0.991, recall: 0.722 },
    missed: 0,
  },
  {
    // Not seen by the rules when it was first measured; then some were added for what they had missed in it.
    // Written after the rules had been changed for the first set; the rules of before stop 43 of its 70 secrets (0.614).
    name: "held-out, second",
    cases: FRESH_CASES,
    first: { precision: 0.938, recall: 0.857 },
    missed: 0,
  },
  {
    name: "held-out, what people paste",
    cases: PASTED_CASES,
    first: { precision: 1, recall: 0.8 },
    missed: 0,
  },
  {
    // Nothing was stopped: there were no rules yet for other languages, disguises and requests in passing.
    name: "held-out, orders",
    cases: ORDER_CASES,
    first: { precision: 1, recall: 0 },
    missed: 0,
  },
  {
    // The rules of before stop 20 of the 30 secrets.
    name: "held-out, what people paste, later",
    cases: LATER_CASES,
    first: { precision: 1, recall: 0.8 },
    missed: 1,
  },
  {
    // The rules of before stop 3 of the 20 orders.
    name: "held-out, orders, later",
    cases: LATER_ORDER_CASES,
    first: { precision: 1, recall: 0.35 },
    missed: 0,
  },
  // No rule was changed for these two: what they miss is what is to be expected.
  {
    name: "held-out, what people paste, last",
    cases: LAST_CASES,
    first: { precision: 1, recall: 0.867 },
    missed: 4,
  },
  {
    name: "held-out, orders, last",
    cases: LAST_ORDER_CASES,
    first: { precision: 1, recall: 0.6 },
    missed: 8,
  },
];
