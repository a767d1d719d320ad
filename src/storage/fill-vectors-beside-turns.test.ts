import { describe, expect, it } from "vitest";
import { fillVectorsBesideTurns } from "./fill-vectors-beside-turns.ts";

describe("vectors that are made beside turns", () => {
  it("are made until none is left, by one run at a time", async () => {
    const left = [120, 70, 20, 0, 0];
    const limits: number[] = [];
    const beside = fillVectorsBesideTurns(
      async (limit) => {
        limits.push(limit);
        return { left: left.shift() ?? 0 };
      },
      () => expect.unreachable(),
    );
    beside.afterTurn();
    beside.afterTurn();
    await beside.settled();
    expect(limits).toEqual([50, 50, 50, 50]);
    beside.afterTurn();
    await beside.settled();
    expect(limits).toHaveLength(5);
  });

  it("are tried again with the next turn when the embedder is down", async () => {
    const errors: unknown[] = [];
    let calls = 0;
    const beside = fillVectorsBesideTurns(
      async () => {
        calls += 1;
        if (calls === 1) throw new Error("down");
        return { left: 0 };
      },
      (error) => errors.push(error),
    );
    beside.afterTurn();
    await beside.settled();
    beside.afterTurn();
    await beside.settled();
    expect([calls, errors]).toMatchObject([2, [{ message: "down" }]]);
  });
});
