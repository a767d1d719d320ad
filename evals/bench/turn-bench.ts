/** What a turn costs in time, disk and memory: Lily, the plain agent, and the same agent without persistence. */
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import type { BenchPlan, CasePlan } from "./bench-plan.ts";
import type { BenchResult, CaseResult, DiskCosts } from "./bench-result.ts";
import { freshTimes, type FreshTimes } from "./fresh-times.ts";
import { growthLawOf, totalBytes, type TurnBytes } from "./growth-law.ts";
import { watchMachine } from "./machine-load.ts";
import { percentile } from "./measure.ts";
import { measureRounds, type Measured } from "./measure-rounds.ts";
import { FIRST_CONVERSATION, prepareCase, type PreparedCase } from "./prepare-case.ts";

/** Told of what is being done, for a person who waits. */
export type OnProgress = (text: string) => void;

/** Runs a benchmark. Its folder is removed at the end. */
export async function turnBench(
  plan: BenchPlan,
  onProgress: OnProgress = () => undefined,
): Promise<BenchResult> {
  const root = mkdtempSync(join(tmpdir(), "lily-bench-"));
  const sections: Section[] = [];
  try {
    // Tools off and on are measured apart: their subjects together would hold too much memory.
    for (const usesTools of [false, true]) {
      const plans = plan.cases.filter((one) => one.usesTools === usesTools);
      if (plans.length > 0) sections.push(await benchOf({ ...plan, cases: plans }, root, onProgress));
    }
    const all = cpus();
    return {
      node: process.version,
      processor: all[0]?.model ?? "unknown",
      cores: all.length,
      foreignCores: Math.max(...sections.map(({ foreignCores }) => foreignCores)),
      cases: sections.flatMap(({ cases }) => cases),
    };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

type Section = Pick<BenchResult, "cases" | "foreignCores">;

async function benchOf(plan: BenchPlan, root: string, onProgress: OnProgress): Promise<Section> {
  const prepared: PreparedCase[] = [];
  try {
    for (const one of plan.cases) {
      onProgress(`${nameOf(one)}: ${one.isPreloaded ? "preloading" : "driving"} to ${one.turns} turns`);
      prepared.push(await prepareCase(one, join(root, nameOf(one)), one.turnsPerRound * plan.rounds));
    }
    onProgress(`measuring in ${plan.rounds} rounds`);
    const othersSince = watchMachine();
    const measured = await measureRounds(prepared, plan.rounds);
    const foreignCores = othersSince();
    await Promise.all(prepared.map(({ subject }) => subject.close()));
    const results = prepared.map((one, index) => resultOf(one, measured[index]));
    const cases = await withFresh(withComputedDisk(results), prepared, { plan, onProgress });
    return { cases, foreignCores };
  } finally {
    for (const { folder } of prepared) rmSync(folder, { recursive: true, force: true });
  }
}

const nameOf = ({ subject, turns, usesTools }: Pick<CasePlan, "subject" | "turns" | "usesTools">): string =>
  `${subject}-${turns}${usesTools ? "-tools" : ""}`;

function resultOf({ plan, disk, heapGrowthBytes }: PreparedCase, measured: Measured | undefined): CaseResult {
  if (measured === undefined) throw new Error(`${nameOf(plan)} was not measured`);
  const { turnsPerRound: _perRound, ...rest } = plan;
  const samples = measured.ms.length;
  const ofPreloaded: DiskCosts = {
    totalBytes: Number.NaN,
    bytesPerTurn: measured.bytesPerTurn,
    fromTurn: plan.turns,
    toTurn: plan.turns + samples,
    isComputed: true,
  };
  return {
    ...rest,
    samples,
    p50Ms: percentile(measured.ms, 0.5),
    p95Ms: percentile(measured.ms, 0.95),
    processorMs: measured.processorMs / samples,
    given: measured.given,
    ...(disk === undefined ? (plan.isPreloaded ? { disk: ofPreloaded } : {}) : { disk }),
    ...(heapGrowthBytes === undefined ? {} : { heapGrowthBytes }),
  };
}

/** A preloaded conversation has the disk that the turns which lead to it would have taken. */
export function withComputedDisk(results: readonly CaseResult[]): CaseResult[] {
  const plain = results.filter(({ subject }) => subject === "plain").flatMap(({ disk }) => disk ?? []);
  if (!plain.some(({ isComputed }) => isComputed)) return [...results];
  const law = growthLawOf(plain.map(middleTurn));
  return results.map((result) =>
    result.disk?.isComputed === true
      ? { ...result, disk: { ...result.disk, totalBytes: totalBytes(law, result.turns) } }
      : result,
  );
}

const middleTurn = ({ fromTurn, toTurn, bytesPerTurn }: DiskCosts): TurnBytes => ({
  turn: (fromTurn + 1 + toTurn) / 2,
  bytes: bytesPerTurn,
});

/** Adds what a fresh process takes; without tools only, they change nothing about it. */
async function withFresh(
  results: readonly CaseResult[],
  prepared: readonly PreparedCase[],
  { plan, onProgress }: { readonly plan: BenchPlan; readonly onProgress: OnProgress },
): Promise<CaseResult[]> {
  const { freshRuns: runs, freshFrom } = plan;
  const bare = new Map<string, FreshTimes>();
  const all: CaseResult[] = [];
  for (const [index, result] of results.entries()) {
    const { subject, turns } = result;
    const folder = prepared[index]?.folder;
    const isTooShort = turns < freshFrom;
    if (folder === undefined || result.usesTools || subject === "lily-watched" || isTooShort) {
      all.push(result);
      continue;
    }
    onProgress(`${nameOf(result)}: resuming in fresh processes`);
    const task = { subject, folder, conversation: FIRST_CONVERSATION };
    const alone = bare.get(subject) ?? (await freshTimes({ ...task, mode: "only-import" }, runs));
    bare.set(subject, alone);
    all.push({ ...result, fresh: await freshTimes({ ...task, mode: "open" }, runs), bare: alone });
  }
  return all;
}
