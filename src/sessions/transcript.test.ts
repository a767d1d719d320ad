import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createManualClock } from "#src/kernel/clock.ts";
import { createMemoryBackend } from "#src/storage/sqlite/sqlite-backend.ts";
import { createStoreSessionRepository } from "#src/storage/store-session-repository.ts";
import { openChain, rotateChain, type Chain } from "./chain.ts";
import type { SessionRepository } from "./repository.ts";
import { EMPTY_HEAD, linkTurn } from "./seal.ts";
import { newestTurns, turnsNewestFirst } from "./transcript.ts";
import { turnBody } from "./testing/turn-body.ts";
import type { TurnRecord } from "./turn-record.ts";

const AT = "2026-03-01T09:00:00.000Z";
const KEY = { owner: "local", sessionKey: "cli:main" };

function turnOf(sessionId: string, turn: number): TurnRecord {
  return linkTurn(turnBody({ sessionId, turn }), { head: EMPTY_HEAD, salt: "s" });
}

function openRepository(): SessionRepository {
  return createStoreSessionRepository(createMemoryBackend({ clock: createManualClock(0) }).store);
}

/** Sessions `s1`, `s2`, … with as many turns; each continues those that its entry in `continues` names. */
async function archiveOf(turns: readonly number[], continues: Readonly<Record<string, string[]>> = {}) {
  const repository = openRepository();
  let chain: Chain = openChain({ ...KEY, sessionId: "s1", at: AT, deliveryId: "d", textHash: "t" });
  for (const [index, count] of turns.entries()) {
    const sessionId = `s${index + 1}`;
    if (index > 0) {
      chain = rotateChain(chain, {
        sessionId,
        at: AT,
        deliveryId: "d",
        textHash: "t",
        verdict: { action: "rotate", trigger: "command", command: "/new" },
        turns: turns[index - 1] ?? 0,
        head: "h",
        carried: { activeAgent: "lily", model: null, toldNoModel: false },
        continues: continues[sessionId] ?? [],
      });
    }
    for (let turn = 1; turn <= count; turn += 1)
      await repository.writeTurn({ ...KEY, sessionId }, turnOf(sessionId, turn));
  }
  return { repository, chain };
}

const names = (turns: readonly TurnRecord[]): string[] =>
  turns.map(({ sessionId, turn }) => `${sessionId}/${turn}`);

describe("reading turns from the newest on", () => {
  it.each([0, 1, 31, 32, 33, 64, 65])("gives all %i of a session once, in order", async (count) => {
    const { repository, chain } = await archiveOf([count]);
    const found: number[] = [];
    for await (const turns of turnsNewestFirst(repository, chain, { sessionId: "s1" }))
      found.push(...turns.map(({ turn }) => turn));
    expect(found).toEqual(Array.from({ length: count }, (_, index) => count - index));
  });

  it("goes on in the sessions that it continues, and in no others", async () => {
    const { repository, chain } = await archiveOf([2, 2, 1], { s3: ["s1"] });
    const found = await newestTurns(repository, chain, { sessionId: "s3", count: 10 });
    expect(names(found)).toEqual(["s1/1", "s1/2", "s3/1"]);
  });

  it("reads a sealed session as its own last one, not what came after it", async () => {
    const { repository, chain } = await archiveOf([2, 2], { s2: ["s1"] });
    const found = await newestTurns(repository, chain, { sessionId: "s1", count: 10 });
    expect(names(found)).toEqual(["s1/1", "s1/2"]);
  });

  it("leaves out turns beyond the count that the caller knows", async () => {
    const { repository, chain } = await archiveOf([3]);
    const found = await newestTurns(repository, chain, { sessionId: "s1", count: 10, latestTurns: 2 });
    expect(names(found)).toEqual(["s1/1", "s1/2"]);
  });

  it("leaves out a turn beyond the number that was sealed", async () => {
    const { repository, chain } = await archiveOf([2, 1], { s2: ["s1"] });
    await repository.writeTurn({ ...KEY, sessionId: "s1" }, turnOf("s1", 3));
    const found = await newestTurns(repository, chain, { sessionId: "s2", count: 10 });
    expect(names(found)).toEqual(["s1/1", "s1/2", "s2/1"]);
  });

  it("reads no more than it is asked for", async () => {
    const { repository, chain } = await archiveOf([100]);
    const ranges: number[] = [];
    const watched: SessionRepository = {
      ...repository,
      readTurns: (ref, range) => {
        ranges.push(range.from);
        return repository.readTurns(ref, range);
      },
    };
    await newestTurns(watched, chain, { sessionId: "s1", count: 3, latestTurns: 100 });
    expect(ranges).toEqual([69]);
  });
});

describe("the newest turns", () => {
  it("are the end of the whole past, oldest first, for any count", async () => {
    const { repository, chain } = await archiveOf([3, 0, 4], { s2: ["s1"], s3: ["s2"] });
    const all = ["s1/1", "s1/2", "s1/3", "s3/1", "s3/2", "s3/3", "s3/4"];
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 10 }), async (count) => {
        const found = await newestTurns(repository, chain, { sessionId: "s3", count });
        expect(names(found)).toEqual(count === 0 ? [] : all.slice(-count));
      }),
      { numRuns: 30 },
    );
  });
});
