/** Breaks work on a home folder at every call: the files as a kill there leaves them, and a disk that is full there. */
import Database from "better-sqlite3";
import { examineHome } from "#src/upkeep/examine-home.ts";
import { watchFolder } from "./file-calls.ts";
import { createGate, printPoint, type FaultPoint } from "./gate.ts";
import { develop, startCamera, type CleanRun } from "./images.ts";
import { recover, RECOVERIES } from "./recover.ts";
import { copyOf, prepare, removeFolder } from "./run-scenario.ts";
import { leaseClockAfter } from "./scenarios.ts";
import { watchStatements } from "./sql-statements.ts";
import { homeIn, type UpkeepCase } from "./upkeep-cases.ts";
import { commandFor, type Violation } from "./violation.ts";

/** A home folder as it is before the work; the caller removes it. */
export async function prepareUpkeep({ scenario, prepare: make }: UpkeepCase): Promise<string> {
  const folder = await prepare(scenario);
  await make?.(folder);
  return folder;
}

/** The calls of the work where nothing fails, and the files at each of them. */
export async function cleanUpkeep(upkeep: UpkeepCase, template: string): Promise<CleanRun> {
  const folder = copyOf(template);
  const camera = startCamera(folder);
  try {
    await watched(
      folder,
      (point) => camera.take(point, false),
      () => upkeep.work(folder, 1),
    );
    camera.take({ name: "reply", n: 1, side: "after" }, true);
    return camera;
  } finally {
    removeFolder(folder);
  }
}

/** Goes on from each of `images` with the next message, and with the work begun again before that. */
export async function killUpkeep(upkeep: UpkeepCase, images: CleanRun["images"]): Promise<Violation[]> {
  const violations: Violation[] = [];
  for (const [index, image] of images.entries()) {
    for (const isAgain of [true, false]) {
      const folder = develop(image);
      const problems = await afterwards(upkeep, folder, { isAgain, index });
      removeFolder(folder);
      const [point] = image.points;
      if (problems.length > 0 && point !== undefined)
        violations.push(
          violationAt(upkeep, `killed ${printPoint(point)}, ${isAgain ? "again" : "left"}`, problems),
        );
    }
  }
  return violations;
}

/** Lets the disk be full at each of `points`, for that call and all after it, and goes on once there is room. */
export async function fillUpkeep(
  upkeep: UpkeepCase,
  points: readonly FaultPoint[],
  template: string,
): Promise<Violation[]> {
  const violations: Violation[] = [];
  for (const [index, point] of points.entries()) {
    const folder = copyOf(template);
    let isFull = false;
    const onPoint = ({ name, n, side }: FaultPoint): void => {
      isFull ||= name === point.name && n === point.n && side === point.side;
      if (isFull && side === "before" && needsRoom(name)) throw fullAt(name);
    };
    // How it is told is for the tests of each; here nothing may be lost by it.
    await watched(folder, onPoint, () => upkeep.work(folder, 1)).catch(() => undefined);
    const problems = await afterwards(upkeep, folder, { isAgain: index % 2 === 0, index });
    removeFolder(folder);
    if (problems.length > 0) violations.push(violationAt(upkeep, `full ${printPoint(point)}`, problems));
  }
  return violations;
}

/** Names and the end of files take no room that is not there already. */
const needsRoom = (name: string): boolean => !/^fs (?:rmSync|renameSync|chmodSync|fsyncSync)$/u.test(name);

function fullAt(name: string): Error {
  if (!name.startsWith("fs ")) return new Database.SqliteError("database or disk is full", "SQLITE_FULL");
  return Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
}

async function watched(
  folder: string,
  onPoint: (point: FaultPoint) => void,
  work: () => Promise<void>,
): Promise<void> {
  const gate = createGate();
  const undo = [watchStatements(gate), watchFolder(gate, folder)];
  gate.arm(onPoint);
  try {
    await work();
  } finally {
    gate.disarm();
    for (const back of undo) back();
  }
}

async function afterwards(
  upkeep: UpkeepCase,
  folder: string,
  { isAgain, index }: { readonly isAgain: boolean; readonly index: number },
): Promise<string[]> {
  const { erases = false, scenario } = upkeep;
  try {
    if (isAgain) await upkeep.work(folder, 2);
  } catch (error) {
    return [`begun again, it fails: ${String(error)}`];
  }
  const recovery = RECOVERIES[index % RECOVERIES.length] ?? "again-first";
  const before = erases ? [] : scenario.before;
  const found = await recover(folder, { ...scenario, before }, { recovery, acknowledged: false });
  const { checks } = await examineHome(homeIn(folder), leaseClockAfter(scenario));
  const bad = checks
    .filter(({ state }) => state === "bad")
    .map(({ check, found: what }) => `doctor: ${check}: ${what}`);
  return [...found, ...bad].filter((problem) => isAgain || !isToldOf(problem, erases));
}

/** What the doctor has to say of work that was cut off, and what is half gone. */
function isToldOf(problem: string, erases: boolean): boolean {
  if (problem.startsWith("doctor: restore: a restore of")) return true;
  return erases && /^(?:there are \d+ sessions|memory holds|verify: |doctor: seals: )/u.test(problem);
}

function violationAt({ name }: UpkeepCase, fault: string, problems: readonly string[]): Violation {
  return { subject: name, fault, problems, again: commandFor(name, "--upkeep") };
}
