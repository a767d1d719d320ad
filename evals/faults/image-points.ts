/** Every point of a scenario in this process: the files as a kill there leaves them are opened and gone on with. */
import { printPoint } from "./gate.ts";
import { develop, type CleanRun } from "./images.ts";
import { recover, RECOVERIES, type Recovery } from "./recover.ts";
import { removeFolder } from "./run-scenario.ts";
import type { Scenario } from "./scenarios.ts";
import { commandFor, type Violation } from "./violation.ts";

/** In which ways the n-th image of a run is recovered; in both unless it is said otherwise. */
export type RecoveriesOf = (image: number) => readonly Recovery[];

/** Recovers from every image of a clean run. */
export async function breakAtImages(
  scenario: Scenario,
  run: CleanRun,
  recoveriesOf: RecoveriesOf = () => RECOVERIES,
): Promise<Violation[]> {
  const violations: Violation[] = [];
  for (const [index, image] of run.images.entries()) {
    for (const recovery of recoveriesOf(index)) {
      const folder = develop(image);
      const problems = await recover(folder, scenario, { recovery, acknowledged: image.acknowledged });
      removeFolder(folder);
      const [first] = image.points;
      if (problems.length === 0 || first === undefined) continue;
      const point = printPoint(first);
      const again = commandFor(scenario.name, "--points", "--at", point);
      violations.push({ subject: scenario.name, fault: `killed ${point}, ${recovery}`, problems, again });
    }
  }
  return violations;
}
