/** Logistic regression by Newton's method: no randomness, so equal examples give equal weights. */

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

/** Newton's method is still long before. */
const MAX_STEPS = 50;

/** The model that makes `examples` most likely, with a ridge of {@link RIDGE}. */
export function fitLogistic(examples: readonly Example[]): LogisticModel {
  const size = (examples[0]?.values.length ?? 0) + 1;
  let theta: number[] = Array.from({ length: size }, () => 0);
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const change = newtonStep(examples, theta);
    theta = theta.map((weight, index) => weight + (change[index] ?? 0));
    if (Math.max(...change.map(Math.abs)) < 1e-9) break;
  }
  return { bias: theta[0] ?? 0, weights: theta.slice(1) };
}

/** The probability that `model` gives to `values`. */
export function probability(model: LogisticModel, values: readonly number[]): number {
  return sigmoid(
    model.bias + values.reduce((sum, value, index) => sum + value * (model.weights[index] ?? 0), 0),
  );
}

function sigmoid(logOdds: number): number {
  return 1 / (1 + Math.exp(-logOdds));
}

function newtonStep(examples: readonly Example[], theta: readonly number[]): number[] {
  const ridge = (index: number) => (index === 0 ? 0 : RIDGE);
  const gradient = theta.map((weight, index) => -ridge(index) * weight);
  const curvature = theta.map((_, row) =>
    theta.map((__, column) => (row === column ? ridge(row) + 1e-9 : 0)),
  );
  for (const { values, isShift } of examples) {
    const x = [1, ...values];
    const p = sigmoid(x.reduce((sum, value, index) => sum + value * (theta[index] ?? 0), 0));
    for (const [row, value] of x.entries()) {
      gradient[row] = (gradient[row] ?? 0) + value * (Number(isShift) - p);
      const line = curvature[row] ?? [];
      for (const [column, other] of x.entries())
        line[column] = (line[column] ?? 0) + value * other * p * (1 - p);
    }
  }
  return solveLinear(curvature, gradient);
}

/** Solves `matrix · x = right` by Gaussian elimination with pivots. The matrix is square and regular. */
export function solveLinear(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rows = matrix.map((row, index) => [...row, right[index] ?? 0]);
  for (let pivot = 0; pivot < rows.length; pivot += 1) {
    const best = rows
      .slice(pivot)
      .reduce(
        (found, row, at) =>
          Math.abs(row[pivot] ?? 0) > found.size ? { at, size: Math.abs(row[pivot] ?? 0) } : found,
        {
          at: 0,
          size: 0,
        },
      );
    const [chosen = []] = rows.splice(pivot + best.at, 1);
    rows.splice(pivot, 0, chosen);
    const scaled = chosen.map((value) => value / (chosen[pivot] ?? 1));
    for (const [index, row] of rows.entries()) {
      const factor = row[pivot] ?? 0;
      rows[index] =
        index === pivot ? scaled : row.map((value, column) => value - factor * (scaled[column] ?? 0));
    }
  }
  return rows.map((row) => row.at(-1) ?? 0);
}
