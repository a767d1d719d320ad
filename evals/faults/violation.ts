/** A case that did not hold: what was done, what does not hold, and how to see it again. */

/** One case that failed. */
export interface Violation {
  /** What was run: a scenario, a race. */
  readonly subject: string;
  /** Where the fault came. */
  readonly fault: string;
  readonly problems: readonly string[];
  /** The command that runs this case alone. */
  readonly again: string;
}

/** What a part of the harness has done. */
export interface PartResult {
  readonly part: string;
  readonly subject: string;
  readonly cases: number;
  readonly seconds: number;
  readonly violations: readonly Violation[];
  /** What else is worth saying, e.g. how many processes were killed. */
  readonly note?: string;
}

/** Measures a part. */
export async function timed(
  part: string,
  subject: string,
  work: () => Promise<Omit<PartResult, "part" | "subject" | "seconds">>,
): Promise<PartResult> {
  const startedMs = performance.now();
  const done = await work();
  return { part, subject, ...done, seconds: (performance.now() - startedMs) / 1000 };
}

/** The command that runs the harness with some arguments. */
export function commandFor(...args: readonly string[]): string {
  const quoted = args.map((arg) => (/^[\w:./=-]+$/u.test(arg) ? arg : JSON.stringify(arg)));
  return ["npx tsx evals/faults/run.ts", ...quoted].join(" ");
}
