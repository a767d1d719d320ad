/** Logistic regression by gradient descent: no randomness, so equal examples give equal weights. */

/** One example: values of the features, and whether it is a change of topic. */
export interface Example {
  readonly values: readonly number[];
  readonly isShift: boolean;
}

/** A fitted model: the log odds without any feature, and what each feature adds. */
export interface LogisticModel {
  readonly bias: number;
  readonly weights: readonly number[];
}

/** Weights are held near 0 by this much; the bias is free. */
const RIDGE = 1;

/** Most steps; fewer where the gradient says that the third decimals of the weights stand still. */
const STEPS = 4_000;
const STILL = 1e-4;

/** The model that makes `examples`, whose values are from 0 to 1, most likely, with a ridge of {@link RIDGE}. */
export function fitLogistic(examples: readonly Example[]): LogisticModel {
  const size = (examples[0]?.values.length ?? 0) + 1;
  // No curvature is greater than this, so that no step is too long.
  const rate = 1 / (RIDGE + (examples.length * size) / 4);
  let theta: number[] = Array.from({ length: size }, () => 0);
  let ahead = theta;
  for (let step = 1; step <= STEPS; step += 1) {
    const gradient = ahead.map((weight, index) => (index === 0 ? 0 : RIDGE * weight));
    for (const { values, isShift } of examples) {
      const error = sigmoid(logOdds(ahead, values)) - Number(isShift);
      for (let index = 0; index < size; index += 1)
        gradient[index] = (gradient[index] ?? 0) + error * (index === 0 ? 1 : (values[index - 1] ?? 0));
    }
    if (Math.max(...gradient.map(Math.abs)) < STILL) break;
    const before = theta;
    theta = ahead.map((weight, index) => weight - rate * (gradient[index] ?? 0));
    // Nesterov's momentum.
    const momentum = (step - 1) / (step + 2);
    ahead = theta.map((weight, index) => weight + momentum * (weight - (before[index] ?? 0)));
  }
  return { bias: theta[0] ?? 0, weights: theta.slice(1) };
}

/** The probability that `model` gives to `values`. */
export function probability({ bias, weights }: LogisticModel, values: readonly number[]): number {
  return sigmoid(logOdds([bias, ...weights], values));
}

function logOdds([bias = 0, ...weights]: readonly number[], values: readonly number[]): number {
  return values.reduce((sum, value, index) => sum + value * (weights[index] ?? 0), bias);
}

function sigmoid(value: number): number {
  return 1 / (1 + Math.exp(-value));
}
