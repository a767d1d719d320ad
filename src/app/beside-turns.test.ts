import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import { createManualClock } from "#src/kernel/clock.ts";
import { createSequentialIds } from "#src/kernel/ids.ts";
import { createMemoryBackend } from "#src/storage/sqlite/sqlite-backend.ts";
import { createBesideTurns } from "./beside-turns.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

type Fill = (limit: number) => Promise<boolean>;

/** Upkeep on a store that counts how often an owner's facts are looked through. */
function open(options: { readonly fillVectors?: Fill; readonly fails?: () => boolean } = {}) {
  const clock = createManualClock(0);
  const { store } = createMemoryBackend({ clock });
  const errors: unknown[] = [];
  const pruned: string[] = [];
  const tidied: number[] = [];
  const search: typeof store.search = async (...args) => {
    tidied.push(clock.monotonic());
    if (options.fails?.() === true) throw new Error("busy");
    return store.search(...args);
  };
  const watched = Object.assign(Object.create(store) as typeof store, { search });
  const checkpointer = Object.assign(new MemorySaver(), {
    retain: async (sessionId: string, keep: number) => {
      pruned.push(`${sessionId} to ${keep}`);
      return 0;
    },
    takeDropped: () => false,
  });
  const beside = createBesideTurns(
    { clock, ids: createSequentialIds(), memory: { enabled: true, tool: true, of: () => "shared" } },
    { checkpointer, store: watched, ...options },
    { keepTurns: 20, onError: (error) => errors.push(error) },
  );
  return { clock, beside, errors, pruned, tidied };
}

describe("beside turns", () => {
  it("checkpoints beyond those to keep go, and all but the newest of a session that was sealed", async () => {
    const { beside, pruned } = open();
    beside.afterTurn("a", false);
    beside.afterTurn("a", true);
    await beside.settled();
    expect(pruned).toEqual(["a to 20", "a to 1"]);
  });

  it("vectors are made until none is left, by one run at a time, and again when the embedder was down", async () => {
    const left = [120, 70, 20, 0];
    const limits: number[] = [];
    const { beside, errors } = open({
      fillVectors: async (limit) => {
        limits.push(limit);
        const next = left.shift();
        if (next === undefined) throw new Error("down");
        return next > 0;
      },
    });
    beside.afterTurn("a", false);
    beside.afterTurn("b", false);
    await beside.settled();
    expect(limits).toEqual([50, 50, 50, 50]);
    beside.afterTurn("a", false);
    await beside.settled();
    expect([limits.length, errors]).toMatchObject([5, [{ message: "down" }]]);
  });

  it("memory is tidied with an owner's first turn and again a day later, whatever the wall clock does", async () => {
    const { clock, beside, tidied } = open();
    const turn = async (): Promise<number> => {
      beside.afterReply("ada");
      await beside.settled();
      return new Set(tidied).size;
    };
    expect(await turn()).toBe(1);
    clock.set(400 * DAY);
    expect(await turn()).toBe(1);
    clock.set(0);
    clock.advance(DAY - 1);
    expect(await turn()).toBe(1);
    clock.advance(1);
    expect(await turn()).toBe(2);
  });

  it("memory that could not be tidied is tried again an hour later", async () => {
    let fails = true;
    const { clock, beside, errors, tidied } = open({ fails: () => fails });
    beside.afterReply("ada");
    await beside.settled();
    beside.afterReply("ada");
    await beside.settled();
    expect([new Set(tidied).size, errors]).toMatchObject([1, [{ message: "busy" }]]);
    fails = false;
    clock.advance(HOUR);
    beside.afterReply("ada");
    await beside.settled();
    expect([new Set(tidied).size, errors.length]).toEqual([2, 1]);
  });
});
