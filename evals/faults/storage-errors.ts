/** Errors of SQLite at every statement that writes: the turn succeeds or fails in plain words, and nothing else changes. */
import Database from "better-sqlite3";
import { createGate, printPoint, type FaultPoint, type Gate } from "./gate.ts";
import { goOn } from "./recover.ts";
import { copyOf, openPart, prepare, removeFolder } from "./run-scenario.ts";
import { clockOf, type Scenario } from "./scenarios.ts";
import { watchStatements } from "./sql-statements.ts";
import { readStored, turnsOf, type StoredKey } from "./stored.ts";
import { isAcknowledged, type Subject } from "./subject.ts";
import type { TurnReply } from "#src/turns/turn-reply.ts";
import { commandFor, type Violation } from "./violation.ts";

/** An error at a statement: how often it comes from there on. */
export interface StorageFault {
  readonly name: string;
  readonly code: "SQLITE_BUSY" | "SQLITE_FULL" | "SQLITE_IOERR_WRITE";
  /** `Infinity`: at every write until the turn has ended. */
  readonly times: number;
  /** Waiting is the cure: the turn may not fail. */
  readonly isHarmless: boolean;
}

/** What is tried at each statement. */
export const STORAGE_FAULTS: readonly StorageFault[] = [
  { name: "busy-once", code: "SQLITE_BUSY", times: 1, isHarmless: true },
  { name: "busy-thrice", code: "SQLITE_BUSY", times: 3, isHarmless: true },
  { name: "full-once", code: "SQLITE_FULL", times: 1, isHarmless: false },
  { name: "full", code: "SQLITE_FULL", times: Infinity, isHarmless: false },
];

/** Longer than any lease. */
const LEASE_MS = 60_000;

/** Runs a scenario once for each of `points`, with the fault there. */
export async function failAtStatements(
  scenario: Scenario,
  fault: StorageFault,
  points: readonly FaultPoint[],
): Promise<Violation[]> {
  const template = await prepare(scenario);
  const violations: Violation[] = [];
  for (const point of points) {
    const folder = copyOf(template);
    const problems = await failAt(scenario, fault, { point, folder });
    removeFolder(folder);
    const at = printPoint(point);
    const again = commandFor(scenario.name, "--errors", "--fault", fault.name, "--at", at);
    if (problems.length > 0)
      violations.push({ subject: scenario.name, fault: `${fault.name} ${at}`, problems, again });
  }
  removeFolder(template);
  return violations;
}

/** The statements of a clean run at which an error can come: not after them, for then they were carried out. */
export function writePoints(points: readonly FaultPoint[]): FaultPoint[] {
  return points.filter(({ name, side }) => name.startsWith("sql ") && side === "before");
}

async function failAt(
  scenario: Scenario,
  fault: StorageFault,
  at: { readonly point: FaultPoint; readonly folder: string },
): Promise<string[]> {
  const gate = createGate();
  const unwatch = watchStatements(gate);
  const rejections: string[] = [];
  const onRejection = (reason: unknown): void => void rejections.push(`nobody waited for: ${String(reason)}`);
  process.on("unhandledRejection", onRejection);
  const leaseClock = clockOf(scenario, "act");
  const subject = openPart(scenario, "act", at.folder, { gate, leaseClock });
  try {
    const reply = await sendWithFault(subject, { scenario, fault, at: at.point, gate });
    // A lease that could not be given back runs out by itself.
    leaseClock.advance(LEASE_MS);
    const told = await toldProblems(subject, { scenario, fault, reply });
    const acknowledged = isAcknowledged(reply);
    const going = { folder: at.folder, scenario, acknowledged };
    const after = await goOn(subject, { ...going, recovery: "again-first" });
    return [...told, ...after, ...rejections];
  } catch (error) {
    return [`it was thrown: ${String(error)}`, ...rejections];
  } finally {
    gate.disarm();
    await subject.close();
    unwatch();
    process.off("unhandledRejection", onRejection);
  }
}

async function sendWithFault(
  subject: Subject,
  on: {
    readonly scenario: Scenario;
    readonly fault: StorageFault;
    readonly at: FaultPoint;
    readonly gate: Gate;
  },
): Promise<TurnReply> {
  const { scenario, fault, at, gate } = on;
  let left = 0;
  gate.arm(({ name, n, side }) => {
    if (name === at.name && n === at.n && side === at.side) left = fault.times;
    if (left === 0 || side === "after" || !name.startsWith("sql ")) return;
    // The statement that failed comes again; others between are let through unless all of them fail.
    if (fault.times !== Infinity && name !== at.name) return;
    left -= 1;
    throw new Database.SqliteError(wordsOf(fault.code), fault.code);
  });
  const reply = await subject.send(scenario.act);
  await subject.sessions.settled();
  gate.disarm();
  return reply;
}

const wordsOf = (code: StorageFault["code"]): string =>
  code === "SQLITE_BUSY"
    ? "database is locked"
    : code === "SQLITE_FULL"
      ? "database or disk is full"
      : "disk I/O error";

/** A failure is told in plain words; what is told as failed is not stored. */
async function toldProblems(
  subject: Subject,
  told: { readonly scenario: Scenario; readonly fault: StorageFault; readonly reply: TurnReply },
): Promise<string[]> {
  const { scenario, fault, reply } = told;
  const { code, message, next } = reply.envelope;
  if (isAcknowledged(reply) || scenario.actFails === true) return [];
  const problems = fault.isHarmless ? [`the turn failed although waiting would do: ${message}`] : [];
  if (!code.startsWith("storage_")) problems.push(`it is told as ${code}: ${message}`);
  if (next === undefined) problems.push(`nothing is said of what to do: ${message}`);
  const stored = await readStored(subject);
  const isMade = stored !== undefined && madeBy(scenario.act.id, scenario, stored);
  if (isMade && scenario.name !== "repeat")
    problems.push(`it is told as failed (${message}) and stored all the same`);
  return problems;
}

/** Whether a delivery is done: as a turn, or as the rotation that was all it asked for. */
function madeBy(deliveryId: string, { leaves }: Scenario, stored: StoredKey): boolean {
  const isTurn = turnsOf(stored).some((turn) => turn.deliveryId === deliveryId);
  const isOpened = stored.chain.sessions.some(({ opened }) => opened.deliveryId === deliveryId);
  return isTurn || (leaves === "rotation" && isOpened);
}
