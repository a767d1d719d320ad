/** A kind of turn that is broken: what was said before, the message itself, what comes after it; its files and clocks. */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createManualClock, type ManualClock } from "#src/kernel/clock.ts";
import type { ErrorCode } from "#src/kernel/errors.ts";
import { createSequentialIds } from "#src/kernel/ids.ts";
import {
  isAcknowledged,
  openSubject,
  type Subject,
  type SubjectMessage,
  type SubjectOptions,
} from "./subject.ts";

/** One kind of turn. */
export interface Scenario {
  readonly name: string;
  /** Parts of `config.json`. */
  readonly config?: object;
  /** Sent, and answered, before anything fails. */
  readonly before: readonly SubjectMessage[];
  /** Time between the last of them and the message. */
  readonly afterHours?: number;
  /** The message during which everything fails once. */
  readonly act: SubjectMessage;
  /** It is told as failed also where nothing is broken. */
  readonly actFails?: boolean;
  /** The model cannot be reached during the message; afterwards it can. */
  readonly isModelDown?: boolean;
  /**
   * How it is refused when it is sent again although it took effect, because what it asks for is done: the rule of
   * commands whose effect is outside the conversation.
   */
  readonly refusedOnceDone?: ErrorCode;
  /** What was sent together is sent again one by one, each after the reply to the one before. */
  readonly againApart?: boolean;
  /** Turns whose checkpoints are kept. */
  readonly keepTurns?: number;
  /** What is stored of `act` once it was delivered again: a turn unless given, a rotation without one, or nothing. */
  readonly leaves?: "turn" | "rotation" | "nothing";
  /** Sessions of the key in the end; 1 unless given. */
  readonly sessions?: number;
  /** Deliveries whose turns it erases. */
  readonly erased?: readonly string[];
  /** Facts that memory holds in the end. */
  readonly facts?: number;
}

/** A folder of its own, which the caller removes. */
export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), "lily-faults-"));
}

/** Removes a folder and all in it. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/** Folders that were prepared in this process, by what was said in them. */
const prepared = new Map<string, string>();

/** Files in which everything that came before the message was said and answered, in a folder that the caller removes. */
export async function prepare(scenario: Scenario): Promise<string> {
  const { before, config, keepTurns } = scenario;
  const name = JSON.stringify([before, config, keepTurns]);
  let folder = prepared.get(name);
  if (folder === undefined) {
    folder = await sayBefore(scenario);
    if (prepared.size === 0) process.once("exit", () => [...prepared.values()].forEach(removeFolder));
    prepared.set(name, folder);
  }
  const copy = temporaryFolder();
  cpSync(folder, copy, { recursive: true });
  return copy;
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
    // A lease that nobody gave back has run out when the program is started again.
    ...(part === "after" ? { leaseClock: createManualClock(clockOf(scenario, part).now() + HOUR) } : {}),
    ids: createSequentialIds(SEEDS[part]),
    ...(scenario.config === undefined ? {} : { config: scenario.config }),
    ...(scenario.keepTurns === undefined ? {} : { keepTurns: scenario.keepTurns }),
    isModelDown: part === "act" && scenario.isModelDown === true,
    ...more,
  });
}

const HOUR = 3_600_000;
/** A Sunday morning in UTC. */
const START = Date.parse("2026-03-01T09:00:00.000Z");

/** The clock of each part of a scenario: what was before, the message, and what comes after a crash. */
export function clockOf(scenario: Scenario, part: "before" | "act" | "after"): ManualClock {
  const hours = part === "before" ? 0 : (scenario.afterHours ?? 0.1);
  return createManualClock(START + hours * HOUR + (part === "after" ? 60_000 : 0));
}
