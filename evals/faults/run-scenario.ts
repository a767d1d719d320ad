/** The parts of a scenario that every kind of fault shares: the files before it, the message, what comes after. */
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSequentialIds } from "#src/kernel/ids.ts";
import { isAcknowledged, openSubject, type Subject, type SubjectOptions } from "./subject.ts";
import { clockOf, leaseClockAfter, type Scenario } from "./scenarios.ts";
import { THINKING } from "./thinking.ts";

/** In memory where the system offers that: a killed process leaves the same there, and nothing waits for a disk. */
const TEMPORARY = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/** A folder of its own, which the caller removes. */
export function temporaryFolder(): string {
  return mkdtempSync(join(TEMPORARY, "lily-faults-"));
}

/** Removes a folder and all in it. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/** A copy of `from` in a folder of its own. */
export function copyOf(from: string): string {
  const folder = temporaryFolder();
  cpSync(from, folder, { recursive: true });
  return folder;
}

/** Folders that were prepared in this process, by what was said in them. */
const prepared = new Map<string, string>();

/** Files in which everything that came before the message was said and answered, in a folder that the caller removes. */
export async function prepare(scenario: Scenario): Promise<string> {
  const { before, config, keepTurns, thinks } = scenario;
  const name = JSON.stringify([before, config, keepTurns, thinks]);
  let folder = prepared.get(name);
  if (folder === undefined) {
    folder = await sayBefore(scenario);
    if (prepared.size === 0) process.once("exit", () => [...prepared.values()].forEach(removeFolder));
    prepared.set(name, folder);
  }
  return copyOf(folder);
}

async function sayBefore(scenario: Scenario): Promise<string> {
  const folder = temporaryFolder();
  const subject = openPart(scenario, "before", folder);
  for (const message of scenario.before) {
    const reply = await subject.send(message);
    const isWaiting = reply.envelope.code === "turn_waiting";
    if (!isAcknowledged(reply) && !isWaiting) throw new Error(`${scenario.name}: ${reply.envelope.message}`);
    await subject.sessions.settled();
  }
  await subject.close();
  return folder;
}

/** Ids of different parts never meet. */
const SEEDS = { before: 1, act: 2, after: 3 } as const;

/** Lily in `folder` as it runs in one part of a scenario. */
export function openPart(
  scenario: Scenario,
  part: "before" | "act" | "after",
  folder: string,
  more: Partial<SubjectOptions> = {},
): Subject {
  return openSubject({
    folder,
    clock: clockOf(scenario, part),
    ...(part === "after" ? { leaseClock: leaseClockAfter(scenario) } : {}),
    ids: createSequentialIds(SEEDS[part]),
    ...(scenario.config === undefined ? {} : { config: scenario.config }),
    ...(scenario.keepTurns === undefined ? {} : { keepTurns: scenario.keepTurns }),
    ...(scenario.thinks === undefined ? {} : { thinks: THINKING[scenario.thinks] }),
    isModelDown: part === "act" && scenario.isModelDown === true,
    ...more,
  });
}
