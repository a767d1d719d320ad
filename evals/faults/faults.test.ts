import Database from "better-sqlite3";
import { beforeAll, describe, expect, it } from "vitest";
import { fillTheDisk } from "./full-disk.ts";
import { createGate, parsePoint, printPoint, type FaultPoint } from "./gate.ts";
import { breakAtImages } from "./image-points.ts";
import { cleanRun } from "./images.ts";
import { toolProblems } from "./invariants.ts";
import { RECOVERIES } from "./recover.ts";
import { openPart, prepare, removeFolder } from "./run-scenario.ts";
import { SCENARIOS, scenarioNamed } from "./scenarios.ts";
import { watchStatements } from "./sql-statements.ts";
import { readStored, turnsOf } from "./stored.ts";
import { failAtStatements, STORAGE_FAULTS, writePoints } from "./storage-errors.ts";

/** One state in so many, with one way to go on: `npm run faults` tries all of them in both ways, and every statement. */
const ONE_STATE_IN = 16;
const ONE_STATEMENT_IN = 8;

const inTurns = (scenario: number) => (image: number) => {
  const place = scenario + image;
  const recovery = RECOVERIES[(place / ONE_STATE_IN) % RECOVERIES.length];
  return recovery === undefined ? [] : [recovery];
};

// ST-06: each step of every kind of rotation is among them.
describe.each(SCENARIOS.map((scenario, index) => [scenario.title, scenario, index] as const))(
  "a kill at any call during %s",
  (_title, scenario, index) => {
    it("loses nothing, doubles nothing and leaves nothing in flight", async () => {
      const run = await cleanRun(scenario);
      expect(run.points.length).toBeGreaterThan(0);
      expect(await breakAtImages(scenario, run, inTurns(index))).toEqual([]);
    });
  },
);

describe("an error of the storage at any writing statement", () => {
  const scenario = scenarioNamed("tools");
  let points: readonly FaultPoint[];
  beforeAll(async () => {
    points = writePoints((await cleanRun(scenario)).points);
  });

  it.each(STORAGE_FAULTS.map((fault, index) => [fault.name, fault, index] as const))(
    "is survived by a turn with tools: answered, or failed in plain words (%s)",
    async (_name, fault, index) => {
      const some = points.filter((_point, place) => (place + index) % ONE_STATEMENT_IN === 0);
      expect(some.length).toBeGreaterThan(1);
      expect(await failAtStatements(scenario, fault, some)).toEqual([]);
    },
  );
});

describe("ST-09 a disk without room", () => {
  it("fails the turn in plain words, and the conversation goes on once there is room", async () => {
    const { failed, violations } = await fillTheDisk(scenarioNamed("chat"));
    expect(failed).toBeGreaterThan(0);
    expect(violations).toEqual([]);
  });
});

describe("a checkpoint that cannot be stored after the turn", () => {
  it("is told of, and the turn counts", async () => {
    const scenario = scenarioNamed("chat-briefly");
    const folder = await prepare(scenario);
    const gate = createGate();
    const unwatch = watchStatements(gate);
    const subject = openPart(scenario, "act", folder, { gate });
    gate.arm(({ name, side }) => {
      if (side === "before" && name.startsWith("sql checkpoints INSERT"))
        throw new Database.SqliteError("database or disk is full", "SQLITE_FULL");
    });
    const replies = [await subject.send(scenario.act), await subject.send({ id: "d10", text: "and now" })];
    unwatch();
    await subject.close();
    removeFolder(folder);
    expect(replies.map(({ outcome }) => outcome)).toEqual(["answered", "answered"]);
    expect(replies[0]?.notice).toMatch(/could not be stored: .*full.*No answer is lost/u);
  });
});

describe("a scenario of several messages", () => {
  it.each(["collected", "collected-tools", "burst"])("is one turn where nothing fails: %s", async (name) => {
    const scenario = scenarioNamed(name);
    const folder = await prepare(scenario);
    const subject = openPart(scenario, "act", folder);
    await subject.send(scenario.act);
    const stored = await readStored(subject);
    await subject.close();
    removeFolder(folder);
    const turns = stored === undefined ? [] : turnsOf(stored);
    expect(turns).toHaveLength(2);
    expect(turns.at(-1)?.collected?.map(({ deliveryId }) => deliveryId)).toEqual(
      scenario.act.together?.map(({ id }) => id),
    );
  });
});

describe("the gate", () => {
  it("counts the calls of a name from 1 once it is armed, and tells of both sides", async () => {
    const gate = createGate();
    await gate.pass("a", () => 1);
    const points: FaultPoint[] = [];
    gate.arm((point) => points.push(point));
    await gate.pass("a", () => gate.passNow("b", () => 2));
    gate.disarm();
    await gate.pass("a", () => 3);
    expect(points.map(printPoint)).toEqual(["before:1:a", "before:1:b", "after:1:b", "after:1:a"]);
  });

  it("fails the call with what its watcher throws, before the work is done", async () => {
    const gate = createGate();
    gate.arm(() => {
      throw new Error("no");
    });
    let done = false;
    await expect(gate.pass("a", () => (done = true))).rejects.toThrow("no");
    expect(done).toBe(false);
  });

  it("reads back a point that it has printed", () => {
    const point: FaultPoint = { name: "sql store INSERT items", n: 12, side: "after" };
    expect(parsePoint(printPoint(point))).toEqual(point);
    expect(() => parsePoint("after:x")).toThrow("no point");
  });
});

describe("the tool invariant", () => {
  it("sees a call that began twice", () => {
    expect(toolProblems(["begin a", "end a", "begin b"])).toEqual([]);
    expect(toolProblems(["begin a", "begin a", "end a"])).toEqual(["the tool ran again: begin a"]);
  });
});
