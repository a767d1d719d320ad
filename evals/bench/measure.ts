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

/** Milliseconds of processor time that this process, with all its threads, has used. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Milliseconds with two decimals below 10, one below 100. */
export function msText(ms: number): string {
  if (ms < 10) return `${ms.toFixed(2)} ms`;
  return `${ms < 100 ? ms.toFixed(1) : Math.round(ms)} ms`;
}

/** Bytes as kB with one decimal; as MB or GB where it would be long. */
export function kilobytesText(bytes: number): string {
  if (Math.abs(bytes) >= 1e9) return `${(bytes / 1e9).toFixed(1)} GB`;
  if (Math.abs(bytes) >= 1e6) return `${(bytes / 1e6).toFixed(1)} MB`;
  return `${(bytes / 1000).toFixed(1)} kB`;
}

/** How many times `base` goes into `value`. */
export function ratioText(value: number, base: number): string {
  const ratio = value / base;
  return `${ratio < 100 ? ratio.toFixed(2) : Math.round(ratio)} x`;
}
