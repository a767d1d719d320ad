/** A process that handles the message of a scenario and kills itself at a point: `worker <scenario> <folder> <point>`. */
import { writeFileSync } from "node:fs";
import { createGate, parsePoint } from "./gate.ts";
import { openPart } from "./run-scenario.ts";
import { scenarioNamed } from "./scenarios.ts";
import { watchStatements } from "./sql-statements.ts";
import { isAcknowledged } from "./subject.ts";

/** The sender has its reply once this file is there. */
const ACKNOWLEDGED = "acknowledged";

async function main([name = "", folder = "", point = ""]: readonly string[]): Promise<void> {
  const scenario = scenarioNamed(name);
  const deadly = parsePoint(point);
  const gate = createGate();
  watchStatements(gate);
  const subject = openPart(scenario, "act", folder, { gate });
  gate.arm(({ name, n, side }) => {
    if (name === deadly.name && n === deadly.n && side === deadly.side) process.kill(process.pid, "SIGKILL");
  });
  const reply = await subject.send(scenario.act);
  if (isAcknowledged(reply)) writeFileSync(`${folder}/${ACKNOWLEDGED}`, "");
  await subject.close();
}

await main(process.argv.slice(2));
