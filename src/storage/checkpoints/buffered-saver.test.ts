import { Annotation, Command, interrupt, StateGraph } from "@langchain/langgraph";
import type { RunnableConfig } from "@langchain/core/runnables";
import { MemorySaver, type CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { LilyError } from "#src/kernel/errors.ts";
import { BufferedSaver, type PointSaver } from "./buffered-saver.ts";
import { openDatabase } from "#memory/stores/sqlite/open-database.ts";
import { SqliteCheckpointer } from "../sqlite/sqlite-checkpointer.ts";
import { takeLag } from "./lagging-checkpoints.ts";

class MemoryPoints extends MemorySaver implements PointSaver {
  async dropCheckpoints(config: RunnableConfig, ids: readonly string[]): Promise<void> {
    for (const id of ids) delete this.storage[String(config.configurable?.["thread_id"])]?.[""]?.[id];
  }
}

const State = Annotation.Root({
  steps: Annotation<string[]>({ reducer: (all, added) => [...all, ...added], default: () => [] }),
});

type Step = (saver: BufferedSaver) => Promise<void> | void;

/** A graph of two steps in a row; `between` runs at the start of the second. */
function twoSteps(saver: BufferedSaver, between: Step = () => undefined) {
  return new StateGraph(State)
    .addNode("first", () => ({ steps: ["first"] }))
    .addNode("second", async () => {
      await between(saver);
      return { steps: ["second"] };
    })
    .addEdge("__start__", "first")
    .addEdge("first", "second")
    .addEdge("second", "__end__")
    .compile({ checkpointer: saver });
}

const ON = { configurable: { thread_id: "t" } };
const SYNC = { ...ON, durability: "sync" } as const;

/** One that puts a point in the place of another. */
const inPlace = (): SqliteCheckpointer => new SqliteCheckpointer(openDatabase(":memory:"));

describe.each([
  ["that drops what is passed", () => new MemoryPoints()],
  ["that puts a point in the place of another", inPlace],
])("the points that matter, in a checkpointer %s", (_what, open) => {
  let stored: PointSaver;
  let saver: BufferedSaver;
  beforeEach(() => {
    stored = open();
    saver = new BufferedSaver(stored);
  });
  const tuples = async (): Promise<CheckpointTuple[]> => {
    const found: CheckpointTuple[] = [];
    for await (const tuple of stored.list(ON)) found.push(tuple);
    return found;
  };
  const storedSteps = async (): Promise<unknown> =>
    (await stored.getTuple(ON))?.checkpoint.channel_values["steps"];
  /** The state as another process sees it. */
  const elsewhere = () => twoSteps(new BufferedSaver(stored)).getState(ON);

  it("neither stores nor goes on from what a run was given and did nothing with", async () => {
    await twoSteps(saver).invoke({ steps: ["a"] }, SYNC);
    const ended = new AbortController();
    const waiting = new StateGraph(State)
      .addNode("first", () => new Promise<object>(() => undefined))
      .addEdge("__start__", "first")
      .compile({ checkpointer: saver });
    const run = waiting.invoke({ steps: ["lost"] }, { ...SYNC, signal: ended.signal });
    setTimeout(() => ended.abort(), 20);
    await expect(run).rejects.toThrow();
    await saver.persist();
    expect(await storedSteps()).toEqual(["a", "first", "second"]);
    await twoSteps(saver).invoke({ steps: ["b"] }, SYNC);
    expect(await storedSteps()).toEqual(["a", "first", "second", "b", "first", "second"]);
  });

  it("keeps what was not stored yet behind a run that did nothing, and goes on from that", async () => {
    const put = vi.spyOn(stored, "put").mockRejectedValue(new LilyError("storage_full", "the disk is full"));
    await twoSteps(saver).invoke({ steps: ["a"] }, SYNC);
    put.mockRestore();
    const ended = new AbortController();
    const waiting = new StateGraph(State)
      .addNode("first", () => new Promise<object>(() => undefined))
      .addEdge("__start__", "first")
      .compile({ checkpointer: saver });
    for (const lost of ["b", "c"]) {
      const run = waiting.invoke({ steps: [lost] }, { ...SYNC, signal: ended.signal });
      setTimeout(() => ended.abort(), 20);
      await expect(run).rejects.toThrow();
    }
    expect((await twoSteps(saver).getState(ON)).values).toEqual({ steps: ["a", "first", "second"] });
    await saver.persist();
    expect(await storedSteps()).toEqual(["a", "first", "second"]);
    await twoSteps(saver).invoke({ steps: ["d"] }, SYNC);
    expect(await storedSteps()).toEqual(["a", "first", "second", "d", "first", "second"]);
  });

  it("stores where a run ended, and names the end of the run before as its parent", async () => {
    await twoSteps(saver).invoke({ steps: ["a"] }, SYNC);
    await twoSteps(saver).invoke({ steps: ["b"] }, SYNC);
    const [newest, oldest, ...others] = await tuples();
    expect(others).toEqual([]);
    expect(newest?.parentConfig?.configurable?.["checkpoint_id"]).toBe(oldest?.checkpoint.id);
    expect(await storedSteps()).toEqual(["a", "first", "second", "b", "first", "second"]);
  });

  it("stores what was reached when it is asked to, and drops that point when the run has ended", async () => {
    const seen: unknown[] = [];
    const graph = twoSteps(saver, async (running) => {
      seen.push(await storedSteps());
      await running.persist("t");
      seen.push(await storedSteps(), (await elsewhere()).next);
    });
    await graph.invoke({ steps: ["a"] }, SYNC);
    expect(seen).toEqual([undefined, ["a", "first"], ["second"]]);
    expect(await tuples()).toHaveLength(1);
  });

  it("goes on from the newest step in this process, and from the last point in another", async () => {
    await twoSteps(saver).invoke({ steps: ["a"] }, SYNC);
    const broken = twoSteps(saver, () => Promise.reject(new Error("stopped")));
    await broken.invoke({ steps: ["b"] }, { ...SYNC, interruptBefore: ["second"] });
    expect((await twoSteps(saver).getState(ON)).values).toEqual({
      steps: ["a", "first", "second", "b", "first"],
    });
    expect((await elsewhere()).values).toEqual({ steps: ["a", "first", "second"] });
    expect(await twoSteps(saver).invoke(null, SYNC)).toEqual({
      steps: ["a", "first", "second", "b", "first", "second"],
    });
  });

  it("goes on behind what somebody has changed while the run waited", async () => {
    const build = (of: BufferedSaver) =>
      new StateGraph(State)
        .addNode("first", () => ({ steps: ["first"] }))
        .addNode("ask", () => ({ steps: [String(interrupt("?"))] }))
        .addNode("last", () => ({ steps: ["last"] }))
        .addEdge("__start__", "first")
        .addEdge("first", "ask")
        .addEdge("ask", "last")
        .compile({ checkpointer: of });
    const graph = build(saver);
    await graph.invoke({ steps: ["a"] }, SYNC);
    await graph.updateState(ON, { steps: ["by hand"] }, "first");
    const ended = await graph.invoke(new Command({ resume: "yes" }), SYNC);
    expect(ended.steps).toEqual(["a", "first", "by hand", "yes", "last"]);
    expect((await graph.getState(ON)).values).toEqual(ended);
    expect((await build(new BufferedSaver(stored)).getState(ON)).values).toEqual(ended);
  });

  it("goes by the order in which points were stored, not by their ids, which go by a clock", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-03-01T12:00:00Z") });
    await twoSteps(saver).invoke({ steps: ["a"] }, SYNC);
    vi.setSystemTime(Date.parse("2026-03-01T09:00:00Z"));
    await twoSteps(saver).invoke({ steps: ["b"] }, { ...SYNC, interruptBefore: ["second"] });
    vi.useRealTimers();
    const { values } = await twoSteps(saver).getState(ON);
    expect(values).toEqual({ steps: ["a", "first", "second", "b", "first"] });
  });

  it("forgets no run that goes on, however many there are", async () => {
    const graph = twoSteps(saver, (running) => running.persist());
    const runs = Array.from({ length: 300 }, (_, index) =>
      graph.invoke({ steps: [`${index}`] }, { configurable: { thread_id: `t${index}` }, durability: "sync" }),
    );
    await Promise.all(runs);
    for (let index = 0; index < 300; index += 1) {
      const tuple = await stored.getTuple({ configurable: { thread_id: `t${index}` } });
      expect(tuple?.checkpoint.channel_values["steps"]).toEqual([`${index}`, "first", "second"]);
      expect(tuple?.parentConfig).toBeUndefined();
    }
  });

  it("takes what another process has stored since for newer than its own steps", async () => {
    await twoSteps(saver).invoke({ steps: ["a"] }, { ...SYNC, interruptBefore: ["second"] });
    await twoSteps(new BufferedSaver(stored)).invoke({ steps: ["b"] }, SYNC);
    expect((await twoSteps(saver).getState(ON)).values).toEqual({ steps: ["b", "first", "second"] });
  });

  it("hands out copies of the steps that it keeps", async () => {
    await twoSteps(saver).invoke({ steps: ["a"] }, { ...SYNC, interruptBefore: ["second"] });
    const { steps } = (await twoSteps(saver).getState(ON)).values as { steps: string[] };
    steps.push("not mine to add");
    expect((await twoSteps(saver).getState(ON)).values).toEqual({ steps: ["a", "first"] });
  });

  it("stores a failure with the step before it, so that another process sees it", async () => {
    const broken = twoSteps(saver, () => Promise.reject(new Error("out of luck")));
    await expect(broken.invoke({ steps: ["a"] }, SYNC)).rejects.toThrow("out of luck");
    expect(await elsewhere()).toMatchObject({ values: { steps: ["a", "first"] }, next: ["second"] });
  });

  it("stores a change that somebody makes to the state", async () => {
    await twoSteps(saver).updateState(ON, { steps: ["by hand"] }, "second");
    expect((await elsewhere()).values).toEqual({ steps: ["by hand"] });
  });

  it("stores all that is left when it is asked for all threads", async () => {
    await twoSteps(saver).invoke({ steps: ["a"] }, { ...SYNC, interruptBefore: ["second"] });
    await saver.persist();
    expect(await storedSteps()).toEqual(["a", "first"]);
  });

  it("tells a saver that stores changed channels alone of all that changed since the last point", async () => {
    const told: string[][] = [];
    const saving = new (class extends MemoryPoints {
      override async put(...given: Parameters<MemorySaver["put"]>) {
        told.push(Object.keys((given as unknown[])[3] as object).toSorted());
        return super.put(...given);
      }
    })();
    await twoSteps(new BufferedSaver(saving), (running) => running.persist("t")).invoke(
      { steps: ["a"] },
      SYNC,
    );
    // The second of these changed in a step that was not stored.
    expect(told[0]).toEqual(expect.arrayContaining(["branch:to:second", "branch:to:first"]));
    expect(told).toHaveLength(2);
  });

  it("does not fail a run whose end cannot be stored, and stores it later", async () => {
    const full = new LilyError("storage_full", "the disk is full");
    const put = vi.spyOn(stored, "put").mockRejectedValueOnce(full);
    const result = await twoSteps(saver).invoke({ steps: ["a"] }, SYNC);
    expect([result, await storedSteps()]).toEqual([{ steps: ["a", "first", "second"] }, undefined]);
    put.mockRestore();
    expect((await twoSteps(saver).getState(ON)).values).toEqual(result);
    await saver.persist();
    expect(await storedSteps()).toEqual(["a", "first", "second"]);
  });

  it("tells once that the end of a run could not be stored, and again when that begins anew", async () => {
    const afterRun = async (isFull: boolean): Promise<string | undefined> => {
      const put = vi.spyOn(stored, "put");
      if (isFull) put.mockRejectedValue(new LilyError("storage_full", "the disk is full"));
      await twoSteps(saver).invoke({ steps: ["a"] }, SYNC);
      put.mockRestore();
      return takeLag(saver, "t");
    };
    expect(await afterRun(true)).toBe("the disk is full");
    expect(await afterRun(true)).toBeUndefined();
    expect(await afterRun(false)).toBeUndefined();
    expect(await afterRun(true)).toBe("the disk is full");
  });

  it("fails a run whose state could not be read again", async () => {
    vi.spyOn(stored, "put").mockRejectedValueOnce(new LilyError("value_not_json", "a function"));
    await expect(twoSteps(saver).invoke({ steps: ["a"] }, SYNC)).rejects.toThrow("a function");
  });

  it("forgets a thread that is deleted in the middle of a run", async () => {
    await twoSteps(saver).invoke({ steps: ["a"] }, { ...SYNC, interruptBefore: ["second"] });
    await saver.deleteThread("t");
    expect((await twoSteps(saver).getState(ON)).values).toEqual({});
  });

  it("stores a run that waits for a person, with what the task beside it has done", async () => {
    let runs = 0;
    const waiting = (over: BufferedSaver) =>
      new StateGraph(State)
        .addNode("works", () => {
          runs += 1;
          return { steps: ["worked"] };
        })
        .addNode("asks", () => ({ steps: [String(interrupt("may I?"))] }))
        .addEdge("__start__", "works")
        .addEdge("__start__", "asks")
        .compile({ checkpointer: over });
    await waiting(saver).invoke({ steps: ["a"] }, SYNC);
    const state = await waiting(new BufferedSaver(stored)).getState(ON);
    expect(state.tasks.flatMap((task) => task.interrupts).map(({ value }) => value as unknown)).toEqual([
      "may I?",
    ]);
    const after = await waiting(new BufferedSaver(stored)).invoke(new Command({ resume: "yes" }), SYNC);
    expect(after.steps.toSorted()).toEqual(["a", "worked", "yes"]);
    expect(runs).toBe(1);
  });
});

/** A saver that tells the id of its newest checkpoint without reading it, as the one of SQLite. */
class NamingPoints extends MemoryPoints {
  reads = 0;
  override getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    this.reads += 1;
    return super.getTuple(config);
  }
  async newestId(config: RunnableConfig): Promise<string | undefined> {
    return (await super.getTuple(config))?.checkpoint.id;
  }
}

describe("a checkpointer that remembers where runs ended", () => {
  let stored: NamingPoints;
  let saver: BufferedSaver;
  beforeEach(async () => {
    stored = new NamingPoints();
    saver = new BufferedSaver(stored);
    await twoSteps(saver).invoke({ steps: ["a"] }, SYNC);
    stored.reads = 0;
  });
  const ENDED = ["a", "first", "second"];
  const stepsNow = async (): Promise<unknown> => (await twoSteps(saver).getState(ON)).values["steps"];

  it("goes on from there without reading it", async () => {
    const after = await twoSteps(saver).invoke({ steps: ["b"] }, SYNC);
    expect(after).toEqual({ steps: [...ENDED, "b", "first", "second"] });
    expect(stored.reads).toBe(0);
  });

  it("reads what another process has stored since", async () => {
    await twoSteps(new BufferedSaver(stored)).invoke({ steps: ["b"] }, SYNC);
    expect(await stepsNow()).toEqual([...ENDED, "b", "first", "second"]);
  });

  it("begins anew where another process has erased it, and stores nothing of it again", async () => {
    await stored.deleteThread("t");
    expect(await twoSteps(saver).invoke({ steps: ["b"] }, SYNC)).toEqual({ steps: ["b", "first", "second"] });
    await saver.persist();
    expect((await stored.getTuple(ON))?.checkpoint.channel_values["steps"]).toEqual(["b", "first", "second"]);
  });

  it("goes back where another process has put back an older one", async () => {
    const older = await stored.getTuple(ON);
    await twoSteps(saver).invoke({ steps: ["b"] }, SYNC);
    const newer = await stored.getTuple(ON);
    await stored.dropCheckpoints(ON, [newer?.checkpoint.id ?? ""]);
    expect(older?.checkpoint.id).not.toBe(newer?.checkpoint.id);
    expect(await stepsNow()).toEqual(ENDED);
  });

  it("is not changed by what anybody does to the lists that it has given", async () => {
    const given = await twoSteps(saver).invoke({ steps: ["b"] }, SYNC);
    given.steps.push("not mine to add");
    const { values } = await twoSteps(saver).getState(ON);
    (values as { steps: string[] }).steps.push("nor this");
    expect(await stepsNow()).toEqual([...ENDED, "b", "first", "second"]);
  });

  it("sees what was written after it", async () => {
    const { config } = await twoSteps(saver).getState(ON);
    await saver.putWrites(config, [["steps", ["by hand"]]], "00000000-0000-0000-0000-000000000000");
    expect((await saver.getTuple(ON))?.pendingWrites).toHaveLength(1);
  });
});

it("keeps one point of a run that goes on, behind where it began, where a point can be put in the place of another", async () => {
  const stored = inPlace();
  const saver = new BufferedSaver(stored);
  await twoSteps(saver).invoke({ steps: ["a"] }, SYNC);
  const began = (await stored.getTuple(ON))?.checkpoint.id;
  const seen: unknown[] = [];
  const look = async () => {
    await saver.persist("t");
    const tuples: CheckpointTuple[] = [];
    for await (const tuple of stored.list(ON)) tuples.push(tuple);
    seen.push(tuples.length, tuples[0]?.parentConfig?.configurable?.["checkpoint_id"] === began);
    return {};
  };
  const graph = new StateGraph(State)
    .addNode("first", look)
    .addNode("second", look)
    .addNode("third", look)
    .addEdge("__start__", "first")
    .addEdge("first", "second")
    .addEdge("second", "third")
    .compile({ checkpointer: saver });
  await graph.invoke({ steps: ["b"] }, SYNC);
  expect(seen).toEqual([2, true, 2, true, 2, true]);
});
