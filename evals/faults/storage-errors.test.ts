import Database from "better-sqlite3";
import { beforeAll, describe, expect, it } from "vitest";
import type { TurnReply } from "#src/turns/turn-reply.ts";
import { createGate, printPoint, watchStatements, type FaultPoint, type Watch } from "./gate.ts";
import { goOn } from "./recover.ts";
import { clockOf, openPart, prepare, removeFolder, type Scenario } from "./run-scenario.ts";
import { readStored, turnsOf } from "./stored.ts";
import { isAcknowledged, type Subject, type SubjectMessage } from "./subject.ts";

/** One writing statement in so many. */
const ONE_STATEMENT_IN = 8;

const HELLO: SubjectMessage = { id: "d1", text: "hello" };
const CHAT: Scenario = { name: "chat", before: [HELLO], act: { id: "d9", text: "how are you" } };

describe("a turn with tools", () => {
  const scenario: Scenario = { name: "tools", before: [HELLO], act: { id: "d9", text: "tools please" } };
  let points: readonly FaultPoint[];
  beforeAll(async () => {
    points = await pointsOf(scenario);
  });

  it("stops at a point of each kind: what is put before a tool, its lines, the commit, the checkpoint, the lease", () => {
    const names = points.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        "sql store INSERT items",
        "sql store COMMIT",
        "sql store UPDATE leases",
        "sql checkpoints INSERT checkpoints",
        "tool begins",
        "tool finishes",
      ]),
    );
  });

  it.each([
    ["SQLITE_BUSY", 1],
    ["SQLITE_BUSY", 3],
    ["SQLITE_FULL", 1],
    ["SQLITE_FULL", Infinity],
  ] as const)("survives %s × %s at any writing statement", async (code, times) => {
    const writes = points.filter(({ name, side }) => name.startsWith("sql ") && side === "before");
    const some = writes.filter(
      (_point, place) => place % ONE_STATEMENT_IN === (times === Infinity ? 0 : times),
    );
    expect(some.length).toBeGreaterThan(1);
    for (const point of some) {
      const { problems } = await survive(scenario, errorAt(point, code, times));
      expect({ at: printPoint(point), problems }).toEqual({ at: printPoint(point), problems: [] });
    }
  });
});

describe("ST-09 a disk without room", () => {
  it("fails the turn in plain words, and the conversation goes on once there is room", async () => {
    // So long that it needs pages; of few words, since the model streams word by word.
    const long = { ...CHAT, act: { id: "d9", text: `how are you ${`${"word".repeat(100)} `.repeat(50)}` } };
    const failed: boolean[] = [];
    for (const pages of [0, 1, 2, 4, 8, 16]) {
      const { hasFailed, problems } = await survive(long, fullDisk(pages));
      expect({ pages, problems }).toEqual({ pages, problems: [] });
      failed.push(hasFailed);
    }
    expect(failed).toContain(true);
  });
});

describe("a checkpoint that cannot be stored after the turn", () => {
  it("is told of, and the turn counts", async () => {
    const folder = await prepare(CHAT);
    const gate = createGate();
    const unwatch = watchStatements(gate);
    const subject = openPart(CHAT, "act", folder, { gate });
    gate.arm(({ name, side }) => {
      if (side === "before" && name.startsWith("sql checkpoints INSERT"))
        throw new Database.SqliteError("database or disk is full", "SQLITE_FULL");
    });
    const replies = [await subject.send(CHAT.act), await subject.send({ id: "d10", text: "and now" })];
    unwatch();
    await subject.close();
    removeFolder(folder);
    expect(replies.map(({ outcome }) => outcome)).toEqual(["answered", "answered"]);
    expect(replies[0]?.notice).toMatch(/could not be stored: .*full.*No answer is lost/u);
  });
});

/** What goes wrong, from the message until its reply. */
interface StorageFault {
  /** Waiting is the cure: the turn may not fail. */
  readonly isHarmless: boolean;
  /** What it throws is what the call throws. */
  readonly watch: Watch;
  /** Is given each connection that writes, before it does. */
  readonly onWrite?: (database: Database.Database) => void;
  /** Takes the fault away. */
  readonly end?: () => void;
}

const WORDS = { SQLITE_BUSY: "database is locked", SQLITE_FULL: "database or disk is full" } as const;

/** An error of SQLite at a statement, `times` times; `Infinity`: at every write from there on. */
function errorAt(at: FaultPoint, code: keyof typeof WORDS, times: number): StorageFault {
  let left = 0;
  return {
    isHarmless: code === "SQLITE_BUSY",
    watch({ name, n, side }) {
      if (name === at.name && n === at.n && side === at.side) left = times;
      if (left === 0 || side === "after" || !name.startsWith("sql ")) return;
      // The statement that failed comes again; others between are let through unless all of them fail.
      if (times !== Infinity && name !== at.name) return;
      left -= 1;
      throw new Database.SqliteError(WORDS[code], code);
    },
  };
}

const NO_LIMIT = 1_073_741_823;

/** A disk that is really full: SQLite may add no more than `pages` pages to either file. */
function fullDisk(pages: number): StorageFault {
  const connections = new Set<Database.Database>();
  return {
    isHarmless: false,
    watch: () => undefined,
    onWrite(database) {
      if (connections.has(database)) return;
      connections.add(database);
      const count = Number(database.pragma("page_count", { simple: true }));
      database.pragma(`max_page_count = ${count + pages}`);
    },
    end: () => connections.forEach((database) => database.pragma(`max_page_count = ${NO_LIMIT}`)),
  };
}

/** Longer than any lease. */
const LEASE_MS = 60_000;

/**
 * Runs a scenario with a fault, and goes on once it is gone.
 *
 * @returns whether the message was told as failed, and what does not hold, in words
 */
async function survive(
  scenario: Scenario,
  fault: StorageFault,
): Promise<{ hasFailed: boolean; problems: string[] }> {
  const folder = await prepare(scenario);
  const gate = createGate();
  const unwatch = watchStatements(gate, fault.onWrite);
  const rejections: string[] = [];
  const onRejection = (reason: unknown): void => void rejections.push(`nobody waited for: ${String(reason)}`);
  process.on("unhandledRejection", onRejection);
  const leaseClock = clockOf(scenario, "act");
  const subject = openPart(scenario, "act", folder, { gate, leaseClock });
  try {
    gate.arm(fault.watch);
    const reply = await subject.send(scenario.act);
    await subject.sessions.settled();
    gate.disarm();
    fault.end?.();
    // A lease that could not be given back runs out by itself.
    leaseClock.advance(LEASE_MS);
    const told = await toldProblems(subject, { scenario, fault, reply });
    const acknowledged = isAcknowledged(reply);
    const after = await goOn(subject, { folder, scenario, acknowledged, recovery: "again-first" });
    return { hasFailed: !acknowledged, problems: [...told, ...after, ...rejections] };
  } catch (error) {
    return { hasFailed: true, problems: [`it was thrown: ${String(error)}`, ...rejections] };
  } finally {
    gate.disarm();
    await subject.close();
    unwatch();
    process.off("unhandledRejection", onRejection);
    removeFolder(folder);
  }
}

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
  if (stored !== undefined && turnsOf(stored).some(({ deliveryId }) => deliveryId === scenario.act.id))
    problems.push(`it is told as failed (${message}) and stored all the same`);
  return problems;
}

/** The points of a message at which nothing fails. */
async function pointsOf(scenario: Scenario): Promise<FaultPoint[]> {
  const folder = await prepare(scenario);
  const gate = createGate();
  const unwatch = watchStatements(gate);
  const subject = openPart(scenario, "act", folder, { gate });
  const points: FaultPoint[] = [];
  gate.arm((point) => points.push(point));
  await subject.send(scenario.act);
  await subject.sessions.settled();
  gate.disarm();
  await subject.close();
  unwatch();
  removeFolder(folder);
  return points;
}
