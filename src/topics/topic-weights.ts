/**
 * Weights of the built-in topic classifier: logistic regression on the train split of TIAGE, the operating point chosen
 * for precision on its dev split. Written by `npm run eval:topics -- --train`; not for editing by hand.
 */
import type { FeatureName } from "./topic-features.ts";

/** Log odds, and the probability from which on a message is taken for a change of topic. */
export const TOPIC_WEIGHTS: {
  readonly bias: number;
  readonly operatingPoint: number;
  readonly weights: Readonly<Record<FeatureName, number>>;
} = {
  bias: -0.906,
  operatingPoint: 0.36,
  weights: {
    apart: -0.009,
    sharedLast: -1.736,
    sharedThree: -0.701,
    sharedAll: 0.427,
    length: 0.648,
    requesting: 0.523,
    freshRequest: 0.027,
    freshQuestion: 1.085,
    pointing: -0.08,
    age: -0.426,
  },
};
