import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { createGate, printPoint, watchStatements, type FaultPoint } from "./gate.ts";
import { toolProblems } from "./invariants.ts";
import { killLoop } from "./kill-loop.ts";
import { recover, RECOVERIES, type Recovery } from "./recover.ts";
import { openPart, prepare, removeFolder, temporaryFolder, type Scenario } from "./run-scenario.ts";
import { readStored, turnsOf } from "./stored.ts";
import { isAcknowledged, type SubjectMessage } from "./subject.ts";

const SEMANTIC = { rollover: { semantic: { enabled: true, minTurns: 1, cooldown: 0 } } };
const HELLO: SubjectMessage = { id: "d1", text: "hello" };
const act = (text: string, more: Partial<SubjectMessage> = {}): SubjectMessage => ({
  id: "d9",
  text,
  ...more,
});
const said = (...texts: string[]): SubjectMessage[] =>
  texts.map((text, index) => ({ id: `d${index + 1}`, text }));

/** Messages that are sent with the one that fails. */
const sentWith = (...texts: string[]): SubjectMessage[] =>
  texts.map((text, index) => ({ id: `d9.${index + 1}`, text }));
const ASK: SubjectMessage = { id: "d2", text: "ask me" };
const CHANGE: SubjectMessage = { id: "d2", text: "change it" };

/** Every kind of turn. */
const SCENARIOS: readonly Scenario[] = [
  { name: "first", before: [], act: act("good morning") },
  { name: "chat", before: said("hello", "and more"), act: act("how are you") },
  { name: "tools", before: [HELLO], act: act("tools please") },
  { name: "command", before: [HELLO], act: act("/title Plans") },
  { name: "read", before: [HELLO], act: act("/status"), leaves: "nothing" },
  { name: "rotation-with-text", before: [HELLO], act: act("/new and a question"), sessions: 2 },
  { name: "rotation", before: [HELLO], act: act("/new"), leaves: "rotation", sessions: 2 },
  { name: "idle", before: [HELLO], afterHours: 13, act: act("good evening"), sessions: 2 },
  { name: "topic", config: SEMANTIC, before: said("my taxes"), act: act("other thing: bikes"), sessions: 2 },
  {
    name: "reversal",
    config: SEMANTIC,
    before: said("my taxes", "other thing: bikes"),
    act: act("back to taxes"),
    sessions: 3,
  },
  { name: "rejoin", before: said("hello", "/new question"), act: act("/rejoin both of them"), sessions: 3 },
  {
    name: "resume",
    before: said("hello", "/new question", "more"),
    act: act("/resume 1"),
    leaves: "rotation",
    sessions: 3,
  },
  { name: "failure", before: [HELLO], act: act("fail please"), actFails: true, leaves: "nothing" },
  { name: "abort", before: [HELLO], act: act("slow please", { stops: true }) },
  { name: "repeat", before: [HELLO], act: HELLO },
  {
    name: "legacy",
    config: { lifecycle: { mode: "legacy" } },
    before: [HELLO],
    act: act("/new and a question"),
  },
  { name: "failure-once", before: [HELLO], act: act("are you there"), actFails: true, isModelDown: true },
  {
    name: "failure-after-tools",
    before: [HELLO],
    act: act("tools please"),
    actFails: true,
    isModelDown: true,
  },
  {
    name: "collected",
    config: { arrivals: { mode: "collect" } },
    before: [HELLO],
    act: act("one thing", { together: sentWith("another", "and a third") }),
  },
  {
    name: "collected-tools",
    config: { arrivals: { mode: "collect" } },
    before: [HELLO],
    act: act("tools for this", { together: sentWith("and that") }),
    againApart: true,
  },
  {
    name: "burst",
    config: { arrivals: { debounceMs: 100 } },
    before: [HELLO],
    act: act("one", { together: sentWith("two") }),
  },
  { name: "picture", before: [HELLO], act: act("what is it", { picture: "a walnut" }) },
  { name: "rotation-with-picture", before: [HELLO], act: act("/new", { picture: "a walnut" }), sessions: 2 },
  {
    name: "idle-with-picture",
    before: [HELLO],
    afterHours: 13,
    act: act("and this", { picture: "a walnut" }),
    sessions: 2,
  },
  { name: "waiting", before: [HELLO], act: act("ask me"), actFails: true },
  {
    name: "approval",
    before: [HELLO, ASK],
    act: { ...ASK, direct: "approve" },
  },
  { name: "waiting-by-rule", before: [HELLO], act: act("change it"), actFails: true },
  { name: "approval-by-rule", before: [HELLO, CHANGE], act: { ...CHANGE, direct: "approve" } },
  { name: "instead-of-approval-by-rule", before: [HELLO, CHANGE], act: act("never mind") },
  { name: "instead-of-approval", before: [HELLO, ASK], act: act("never mind") },
  {
    name: "rotation-instead-of-approval",
    before: [HELLO, ASK],
    act: act("/new and a question"),
    sessions: 2,
  },
  {
    name: "replay",
    before: said("one", "two", "three"),
    keepTurns: 20,
    act: act("other two", { direct: "replay" }),
    sessions: 2,
  },
  { name: "remember", before: [HELLO], act: act("/remember I drink jasmine tea"), facts: 1 },
  {
    name: "forget",
    before: said("/remember I drink jasmine tea", "/remember my bike is blue"),
    act: act("/forget jasmine"),
    refusedOnceDone: "memory_not_found",

    facts: 1,
  },
  {
    name: "forget-everywhere",
    before: said("/remember I drink jasmine tea", "my bike is blue", "/new", "I drink jasmine tea"),
    act: act("/forget I drink jasmine tea --everywhere --yes"),
    refusedOnceDone: "memory_not_found",

    sessions: 2,
    erased: ["d1", "d4"],
    facts: 0,
  },
];

/** One state of the files in so many, with one way to go on; all of them in both ways with `LILY_ALL_FAULTS=1`. */
const ONE_STATE_IN = 8;

/** In which ways an image is gone on with. */
function recoveriesOf(scenario: number, image: number): readonly Recovery[] {
  if (process.env["LILY_ALL_FAULTS"] === "1") return RECOVERIES;
  const recovery = RECOVERIES[((scenario + image) / ONE_STATE_IN) % RECOVERIES.length];
  return recovery === undefined ? [] : [recovery];
}

// ST-06: each step of every kind of rotation is among them.
describe.each(SCENARIOS.map((scenario, index) => [scenario.name, scenario, index] as const))(
  "a kill at any call: %s",
  (_name, scenario, index) => {
    it("loses nothing, doubles nothing and leaves nothing in flight", async () => {
      const images = await imagesOf(scenario);
      expect(images.length).toBeGreaterThan(1);
      const problems: string[] = [];
      for (const [place, image] of images.entries())
        for (const recovery of recoveriesOf(index, place))
          problems.push(...(await recoverImage(scenario, image, recovery)));
      expect(problems).toEqual([]);
    });
  },
);

describe("a scenario of several messages", () => {
  it.each(["collected", "collected-tools", "burst"])("is one turn where nothing fails: %s", async (name) => {
    const scenario = SCENARIOS.find((one) => one.name === name);
    if (scenario === undefined) throw new Error(`there is no ${name}`);
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

describe("two processes on one key, which are killed from outside", () => {
  it("answer every message once, in order, and run no tool more often than it was approved", async () => {
    const { keys, problems } = await killLoop({ rounds: 2, seed: 5, processes: 2, keys: 1 });
    expect(problems).toEqual([]);
    expect(keys).toMatchObject([{ processes: 2, killed: 2 }]);
  });
});

describe("the gate", () => {
  it("counts the calls of a name from 1 once it is armed, and tells of both sides", () => {
    const gate = createGate();
    gate.pass("a", () => 1);
    const points: FaultPoint[] = [];
    gate.arm((point) => points.push(point));
    gate.pass("a", () => gate.pass("b", () => 2));
    gate.disarm();
    gate.pass("a", () => 3);
    expect(points.map(printPoint)).toEqual(["before:1:a", "before:1:b", "after:1:b", "after:1:a"]);
  });

  it("fails the call with what its watcher throws, before the work is done", () => {
    const gate = createGate();
    gate.arm(() => {
      throw new Error("no");
    });
    let done = false;
    expect(() => gate.pass("a", () => (done = true))).toThrow("no");
    expect(done).toBe(false);
  });
});

describe("the tool invariant", () => {
  it("sees a call that began twice", () => {
    expect(toolProblems(["begin a", "end a", "begin b"])).toEqual([]);
    expect(toolProblems(["begin a", "begin a", "end a"])).toEqual(["the tool ran again: begin a"]);
  });
});

/** What points that follow each other without a change have in common. */
interface Image {
  readonly first: FaultPoint;
  readonly acknowledged: boolean;
  /** The files by path within the folder. */
  readonly files: ReadonlyMap<string, Buffer>;
}

/**
 * Runs the message of a scenario once. A killed process leaves what it has written, no more and no less, and so does a
 * copy that is taken while the process stands still. Points between which no file changed share their image.
 */
async function imagesOf(scenario: Scenario): Promise<Image[]> {
  const folder = await prepare(scenario);
  const gate = createGate();
  const unwatch = watchStatements(gate);
  const images: Image[] = [];
  const take = (first: FaultPoint, acknowledged: boolean): void => {
    const image = { first, acknowledged, files: readFiles(folder) };
    const newest = images.at(-1);
    if (newest === undefined || !isSame(newest, image)) images.push(image);
  };
  try {
    const subject = openPart(scenario, "act", folder, { gate });
    let acknowledged = false;
    take({ name: "opened", n: 1, side: "after" }, acknowledged);
    gate.arm((point) => take(point, acknowledged));
    // Upkeep runs beside the end of a turn: from here on the sender has its reply.
    acknowledged = isAcknowledged(await subject.send(scenario.act));
    await subject.sessions.settled();
    take({ name: "reply", n: 1, side: "after" }, acknowledged);
    gate.disarm();
    await subject.close();
    return images;
  } finally {
    unwatch();
    removeFolder(folder);
  }
}

/** Opens an image and goes on with it. @returns what does not hold, in words; nothing when all does */
async function recoverImage(
  scenario: Scenario,
  { acknowledged, files, first }: Image,
  recovery: Recovery,
): Promise<string[]> {
  const folder = temporaryFolder();
  try {
    for (const [path, content] of files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    }
    const problems = await recover(folder, scenario, { recovery, acknowledged });
    return problems.map((problem) => `killed ${printPoint(first)}, ${recovery}: ${problem}`);
  } finally {
    removeFolder(folder);
  }
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
