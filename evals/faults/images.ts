/** The files of a scenario as a kill at each of its points leaves them: copied in one run, while it stands at the point. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createGate, type FaultPoint } from "./gate.ts";
import { copyOf, openPart, prepare, removeFolder, temporaryFolder } from "./run-scenario.ts";
import type { Scenario } from "./scenarios.ts";
import { watchStatements } from "./sql-statements.ts";
import { isAcknowledged } from "./subject.ts";

/** What points that follow each other without a change have in common. */
export interface Image {
  readonly points: FaultPoint[];
  readonly acknowledged: boolean;
  /** The files by path within the folder. */
  readonly files: ReadonlyMap<string, Buffer>;
}

/** A run of a scenario in which nothing failed. */
export interface CleanRun {
  readonly points: readonly FaultPoint[];
  readonly images: readonly Image[];
}

/**
 * Runs the message of a scenario once. A killed process leaves what it has written, no more and no less, and so does a
 * copy that is taken while the process stands still. Points between which no file changed share their image.
 */
export async function cleanRun(scenario: Scenario): Promise<CleanRun> {
  const template = await prepare(scenario);
  const folder = copyOf(template);
  const gate = createGate();
  const unwatch = watchStatements(gate);
  const camera = startCamera(folder);
  try {
    const subject = openPart(scenario, "act", folder, { gate });
    gate.arm((point) => camera.take(point, false));
    const acknowledged = isAcknowledged(await subject.send(scenario.act));
    // Upkeep runs beside the end of a turn: from here on the sender has its reply.
    camera.acknowledge(acknowledged);
    await subject.sessions.settled();
    camera.take({ name: "reply", n: 1, side: "after" }, acknowledged);
    gate.disarm();
    await subject.close();
    return camera;
  } finally {
    unwatch();
    removeFolder(folder);
    removeFolder(template);
  }
}

/** Takes the files of `folder` at points. */
export function startCamera(folder: string) {
  const points: FaultPoint[] = [];
  const images: Image[] = [];
  let told = false;
  return {
    points,
    images,
    acknowledge(acknowledged: boolean) {
      told = acknowledged;
    },
    take(point: FaultPoint, acknowledged: boolean) {
      if (point.name !== "reply") points.push(point);
      const image = { points: [point], acknowledged: acknowledged || told, files: readFiles(folder) };
      const newest = images.at(-1);
      if (newest !== undefined && isSame(newest, image)) newest.points.push(point);
      else images.push(image);
    },
  };
}

/** All but the shared memory of SQLite, which it makes again from the log. */
function readFiles(folder: string): Map<string, Buffer> {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith("-shm"))
    .map(({ parentPath, name }) => join(parentPath, name));
  return new Map(paths.map((path) => [path.slice(folder.length + 1), readFileSync(path)]));
}

function isSame(a: Image, b: Image): boolean {
  if (a.acknowledged !== b.acknowledged || a.files.size !== b.files.size) return false;
  return [...a.files].every(([path, content]) => b.files.get(path)?.equals(content) === true);
}

/** The image as files in a folder of its own, which the caller removes. */
export function develop({ files }: Image): string {
  const folder = temporaryFolder();
  for (const [path, content] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}
