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
  bias: -0.922,
  operatingPoint: 0.41,
  weights: {
    apart: 0.061,
    sharedLast: -1.731,
    sharedThree: -0.701,
    sharedAll: 0.438,
    length: 0.596,
    requesting: 0.566,
    freshRequest: 0.046,
    freshQuestion: 0.949,
    pointing: -0.152,
    goingOn: 0.258,
    age: -0.435,
  },
};
