/** Numbers of a benchmark: percentiles, sizes and ratios, and how they are written. */

/** The value below or at which the share `share` (0 to 1) of `values` lies. NaN without values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** Milliseconds that `run` took. */
export async function timed(run: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await run();
  return performance.now() - startedMs;
}

/** Milliseconds with one decimal below 100. */
export function msText(ms: number): string {
  return `${ms < 100 ? ms.toFixed(1) : Math.round(ms)} ms`;
}

/** Bytes as kB with one decimal. */
export function kilobytesText(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`;
}

/** How many times `base` goes into `value`. */
export function ratioText(value: number, base: number): string {
  return `${(value / base).toFixed(2)} x`;
}
