import { describe, expect, it } from "vitest";
import type { Redaction } from "#src/sessions/chain-entry.ts";
import { turnRecord } from "#src/sessions/testing/turn-body.ts";
import { ShownTurns } from "./shown-turns.ts";

const AT = "2026-03-01T09:00:00.000Z";
const REF = { owner: "o", sessionKey: "k", sessionId: "s" };

/** A repository that counts what it is asked for. */
function counting(stored: (turn: number) => boolean = () => true) {
  const asked: number[] = [];
  return {
    asked,
    lastStoredTurn: async () => 0,
    readTurns: async (ref: { sessionId: string }, { from, to }: { from: number; to: number }) => {
      const turns = Array.from({ length: to - from + 1 }, (_, index) => from + index);
      asked.push(...turns);
      return turns.filter(stored).map((turn) => turnRecord({ sessionId: ref.sessionId, turn }));
    },
  };
}

const erasing = (...turns: number[]): { redactions: Redaction[] } => ({
  redactions: [{ sessionId: "s", at: AT, turns }],
});

async function numbersOf(
  memory: ShownTurns,
  repository: ReturnType<typeof counting>,
  chain: { redactions?: Redaction[] } = {},
): Promise<number[]> {
  const turns = await memory.over(repository, chain).readTurns(REF, { from: 1, to: 4 });
  return turns.map(({ turn }) => turn);
}

describe("turns that were read before", () => {
  it("are not asked for again", async () => {
    const memory = new ShownTurns();
    const repository = counting();
    expect(await numbersOf(memory, repository)).toEqual([1, 2, 3, 4]);
    expect(await numbersOf(memory, repository)).toEqual([1, 2, 3, 4]);
    expect(repository.asked).toEqual([1, 2, 3, 4]);
  });

  it("are forgotten once the chain lists them as erased, whoever erased them", async () => {
    const memory = new ShownTurns();
    const repository = counting();
    await numbersOf(memory, repository);
    expect(await numbersOf(memory, repository, erasing(2, 3))).toEqual([1, 4]);
    expect(repository.asked).toEqual([1, 2, 3, 4]);
  });

  it("are not held in memory either, once they are listed", async () => {
    const memory = new ShownTurns();
    const repository = counting();
    await numbersOf(memory, repository);
    memory.over(repository, erasing(2));
    // Only a read that knows of no erasure shows what is still held.
    await numbersOf(memory, repository);
    expect(repository.asked).toEqual([1, 2, 3, 4, 2]);
  });

  it("are not taken in again with those around them while their bodies still stand", async () => {
    const memory = new ShownTurns();
    const repository = counting();
    const reader = memory.over(repository, erasing(2));
    expect((await reader.readTurns(REF, { from: 1, to: 4 })).map(({ turn }) => turn)).toEqual([1, 3, 4]);
    expect(repository.asked).toEqual([1, 2, 3, 4]);
    await numbersOf(memory, repository);
    expect(repository.asked).toEqual([1, 2, 3, 4, 2]);
  });

  it("of another session under the same number are kept", async () => {
    const memory = new ShownTurns();
    const repository = counting();
    await numbersOf(memory, repository);
    const other = { redactions: [{ sessionId: "another", at: AT, turns: [2] }] };
    expect(await numbersOf(memory, repository, other)).toEqual([1, 2, 3, 4]);
    expect(repository.asked).toHaveLength(4);
  });
});
