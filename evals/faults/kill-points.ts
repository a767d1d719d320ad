/** Every point of a scenario with a real process that is killed there by SIGKILL. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { printPoint, type FaultPoint } from "./gate.ts";
import { recover, RECOVERIES } from "./recover.ts";
import { copyOf, prepare, removeFolder } from "./run-scenario.ts";
import type { Scenario } from "./scenarios.ts";
import { commandFor, type Violation } from "./violation.ts";

/** Processes at a time: as many as a small machine has cores. */
const AT_ONCE = 2;

/** Options of {@link killAtPoints}. */
export interface KillOptions {
  /** The bundled worker. */
  readonly program: string;
  /** Told after each point. */
  readonly onDone?: (done: number) => void;
}

/** Kills a process at each of `points`, and recovers in both ways what it has left. */
export async function killAtPoints(
  scenario: Scenario,
  points: readonly FaultPoint[],
  { program, onDone }: KillOptions,
): Promise<Violation[]> {
  const template = await prepare(scenario);
  const violations: Violation[] = [];
  const queue = [...points];
  let done = 0;
  const drain = async (): Promise<void> => {
    for (let point = queue.shift(); point !== undefined; point = queue.shift()) {
      violations.push(...(await killAt(scenario, printPoint(point), { program, template })));
      onDone?.((done += 1));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, drain));
  removeFolder(template);
  return violations;
}

async function killAt(
  scenario: Scenario,
  point: string,
  from: { readonly program: string; readonly template: string },
): Promise<Violation[]> {
  const killed = copyOf(from.template);
  const again = commandFor(scenario.name, "--points", "--at", point);
  const told = { subject: scenario.name, again };
  const ended = await runWorker(from.program, [scenario.name, killed, point]);
  const violations: Violation[] = [];
  if (ended.signal !== "SIGKILL")
    violations.push({ ...told, fault: point, problems: [`the point was not reached; ${ended.output}`] });
  const acknowledged = existsSync(join(killed, "acknowledged"));
  for (const recovery of RECOVERIES) {
    const folder = copyOf(killed);
    const problems = await recover(folder, scenario, { recovery, acknowledged });
    removeFolder(folder);
    if (problems.length > 0) violations.push({ ...told, fault: `SIGKILL ${point}, ${recovery}`, problems });
  }
  removeFolder(killed);
  return violations;
}

function runWorker(
  program: string,
  args: readonly string[],
): Promise<{ readonly signal: NodeJS.Signals | null; readonly output: string }> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += String(chunk)));
  return new Promise((done) => {
    child.once("close", (code, signal) => done({ signal, output: `it ended with ${code}: ${output}` }));
  });
}
