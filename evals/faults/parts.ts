/** The parts of the harness, each as one row of its result. */
import { runCrowd, type CrowdPlan } from "./crowd.ts";
import { fillTheDisk } from "./full-disk.ts";
import { parsePoint, printPoint, type FaultPoint } from "./gate.ts";
import { breakAtImages } from "./image-points.ts";
import { cleanRun, type CleanRun } from "./images.ts";
import { killAtPoints } from "./kill-points.ts";
import { countPoints, missingPoints, readPointsFile } from "./points-file.ts";
import type { Scenario } from "./scenarios.ts";
import { failAtStatements, STORAGE_FAULTS, writePoints } from "./storage-errors.ts";
import { removeFolder } from "./run-scenario.ts";
import type { UpkeepCase } from "./upkeep-cases.ts";
import { cleanUpkeep, fillUpkeep, killUpkeep, prepareUpkeep } from "./upkeep-faults.ts";
import { commandFor, timed, type PartResult, type Violation } from "./violation.ts";

/** Restricts a part to one case. */
export interface OnlyAt {
  /** A point as it is printed. */
  readonly at?: string | undefined;
  readonly fault?: string | undefined;
}

/** The clean run of a scenario, against the committed list of points. */
export async function checkPoints(scenario: Scenario): Promise<{ run: CleanRun; result: PartResult }> {
  let run: CleanRun = { points: [], images: [] };
  const result = await timed("points", scenario.name, async () => {
    run = await cleanRun(scenario);
    const problems = missingPoints(readPointsFile()[scenario.name] ?? {}, countPoints(run.points));
    const again = commandFor(scenario.name, "--images");
    const violations: Violation[] =
      problems.length === 0 ? [] : [{ subject: scenario.name, fault: "a clean run", problems, again }];
    return { cases: run.points.length, violations, note: `${run.images.length} states of the files` };
  });
  return { run, result };
}

/** Every state of the files, recovered in this process. */
export function imagesPart(scenario: Scenario, run: CleanRun): Promise<PartResult> {
  return timed("images", scenario.name, async () => {
    const violations = await breakAtImages(scenario, run);
    return { cases: run.images.length * 2, violations };
  });
}

/** Every point, by SIGKILL of a real process. */
export function killsPart(
  scenario: Scenario,
  run: CleanRun,
  options: OnlyAt & {
    readonly program: string;
    readonly onePerState: boolean;
    readonly onDone: (done: number) => void;
  },
): Promise<PartResult> {
  return timed("SIGKILL", scenario.name, async () => {
    const points = pointsOf(run, options);
    const violations = await killAtPoints(scenario, points, options);
    return { cases: points.length, violations };
  });
}

function pointsOf(
  run: CleanRun,
  { at, onePerState }: OnlyAt & { onePerState: boolean },
): readonly FaultPoint[] {
  if (at !== undefined) return [parsePoint(at)];
  if (!onePerState) return run.points;
  return run.images.flatMap(({ points }) => points.slice(0, 1)).filter(({ name }) => name !== "reply");
}

/** Errors of SQLite at every writing statement. */
export async function errorsPart(scenario: Scenario, run: CleanRun, only: OnlyAt): Promise<PartResult[]> {
  const points = writePoints(run.points).filter(
    (point) => only.at === undefined || printPoint(point) === only.at,
  );
  const faults = STORAGE_FAULTS.filter(({ name }) => only.fault === undefined || name === only.fault);
  const results: PartResult[] = [];
  for (const fault of faults) {
    results.push(
      await timed(fault.name, scenario.name, async () => {
        return { cases: points.length, violations: await failAtStatements(scenario, fault, points) };
      }),
    );
  }
  return results;
}

/** Files that may not grow. */
export function diskPart(scenario: Scenario): Promise<PartResult> {
  return timed("full disk", scenario.name, async () => {
    const { failed, violations } = await fillTheDisk(scenario);
    return { cases: 6, violations, note: `${failed} turns failed` };
  });
}

/** Several processes on few keys. */
export function crowdPart(
  part: string,
  plan: CrowdPlan,
  program: string,
  again: string,
): Promise<PartResult> {
  const subject = `${plan.processes} × ${plan.messages} on ${plan.keys}, seed ${plan.seed}`;
  return timed(part, subject, async () => {
    const { again: toolsAgain, killed, problems, turns } = await runCrowd(plan, program);
    const violations = problems.length === 0 ? [] : [{ subject: part, fault: subject, problems, again }];
    return {
      cases: turns,
      violations,
      note: `${killed} killed, ${toolsAgain} tool lines again after a told failure`,
    };
  });
}

/** Work on a home folder: killed at every call, and without room from every call on. */
export async function upkeepParts(upkeep: UpkeepCase): Promise<PartResult[]> {
  const template = await prepareUpkeep(upkeep);
  try {
    const { points, images } = await cleanUpkeep(upkeep, template);
    const killed = await timed("upkeep", upkeep.name, async () => ({
      cases: images.length * 2,
      violations: await killUpkeep(upkeep, images),
      note: `${points.length} points, ${images.length} states of the files`,
    }));
    const calls = points.filter(({ side }) => side === "before");
    const full = await timed("no room", upkeep.name, async () => ({
      cases: calls.length,
      violations: await fillUpkeep(upkeep, calls, template),
    }));
    return [killed, full];
  } finally {
    removeFolder(template);
  }
}
