import { describe, expect, it } from "vitest";
import { pruneBesideTurns } from "./prune-beside-turns.ts";

function pruning(fail = false) {
  const pruned: string[] = [];
  const errors: unknown[] = [];
  const prune = async (sessionId: string, keep: number): Promise<{ deletedCheckpoints: number }> => {
    pruned.push(`${sessionId} to ${keep}`);
    if (fail) throw new Error("locked");
    return { deletedCheckpoints: 0 };
  };
  const beside = pruneBesideTurns({ prune }, { keepTurns: 20, onError: (error) => errors.push(error) });
  return { beside, pruned, errors };
}

describe("pruning beside turns", () => {
  it("comes with the first turn of a session and then with every fourth", () => {
    const { beside, pruned } = pruning();
    for (let turn = 1; turn <= 8; turn += 1) beside.afterTurn("a", false);
    expect(pruned).toEqual(["a to 20", "a to 20"]);
    beside.afterTurn("b", false);
    beside.afterTurn("a", false);
    expect(pruned).toEqual(["a to 20", "a to 20", "b to 20", "a to 20"]);
  });

  it("leaves one checkpoint of a session that was sealed", () => {
    const { beside, pruned } = pruning();
    beside.afterTurn("a", false);
    beside.afterTurn("a", true);
    expect(pruned).toEqual(["a to 20", "a to 1"]);
  });

  it("tells of a failure and holds nobody up", async () => {
    const { beside, errors } = pruning(true);
    beside.afterTurn("a", false);
    await beside.settled();
    expect(errors).toMatchObject([{ message: "locked" }]);
  });
});
