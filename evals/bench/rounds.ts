/** Subjects measured in turns within one process, so that what slows the machine down slows all of them. */
import { Bench } from "tinybench";

/** Something that is measured. */
export interface Subject {
  readonly name: string;
  /** One measured piece of work. */
  readonly run: () => unknown;
  /** Pieces in a row in each of its rounds. */
  readonly perRound: number;
  /** It takes part in each such round; 1 by default. */
  readonly every?: number;
  /** After its pieces of a round, not timed: what runs beside them ends here. */
  readonly afterRound?: () => Promise<void>;
}

/** Milliseconds of each measured piece, by the subject's name. */
export type Samples = ReadonlyMap<string, readonly number[]>;

/** Measures all subjects in `rounds` rounds; each round begins with another one. */
export async function measureInTurns(subjects: readonly Subject[], rounds: number): Promise<Samples> {
  const samples = new Map<string, number[]>(subjects.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    const first = round % subjects.length;
    for (const subject of [...subjects.slice(first), ...subjects.slice(0, first)]) {
      if (round % (subject.every ?? 1) === 0) samples.get(subject.name)?.push(...(await measure(subject)));
    }
  }
  return samples;
}

async function measure({ name, run, perRound, afterRound }: Subject): Promise<readonly number[]> {
  const bench = new Bench({
    iterations: perRound,
    time: 0,
    warmup: false,
    retainSamples: true,
    throws: true,
  });
  bench.add(name, async () => void (await run()), { async: true });
  const [task] = await bench.run();
  await afterRound?.();
  if (task?.result.state !== "completed") throw new Error(`${name} was not measured`);
  return task.result.latency.samples ?? [];
}

/** The value below or at which the share `share` (0 to 1) of a subject's samples lies. NaN without samples. */
export function percentile(samples: Samples, name: string, share: number): number {
  const sorted = (samples.get(name) ?? []).toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}
