/** How much an agent keeps that stores its whole conversation again with each turn: what a turn adds grows with its number. */

/** What turn number `turn` added, in bytes. */
export interface TurnBytes {
  readonly turn: number;
  readonly bytes: number;
}

/** The line `fixed + perTurn * n`: what turn `n` adds. */
export interface GrowthLaw {
  readonly fixed: number;
  readonly perTurn: number;
}

/** The law through what single turns added, by least squares of the relative error: a small turn counts as a large one. */
export function growthLawOf(measured: readonly TurnBytes[]): GrowthLaw {
  if (measured.length < 2) throw new RangeError("a line needs two turns");
  const sums = { w: 0, wx: 0, wxx: 0, wy: 0, wxy: 0 };
  for (const { turn, bytes } of measured) {
    const weight = 1 / Math.max(1, bytes) ** 2;
    sums.w += weight;
    sums.wx += weight * turn;
    sums.wxx += weight * turn * turn;
    sums.wy += weight * bytes;
    sums.wxy += weight * turn * bytes;
  }
  const perTurn = (sums.w * sums.wxy - sums.wx * sums.wy) / (sums.w * sums.wxx - sums.wx ** 2);
  return { fixed: (sums.wy - perTurn * sums.wx) / sums.w, perTurn };
}

/** What the turns 1 to `turns` add together. */
export function totalBytes({ fixed, perTurn }: GrowthLaw, turns: number): number {
  return fixed * turns + (perTurn * turns * (turns + 1)) / 2;
}
