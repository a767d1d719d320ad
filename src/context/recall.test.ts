import { describe, expect, it } from "vitest";
import { createManualClock } from "#src/kernel/clock.ts";
import { openChain, rotateChain, type Chain } from "#src/sessions/chain.ts";
import type { SessionRepository } from "#src/sessions/repository.ts";
import { linkTurn } from "#src/sessions/seal.ts";
import type { TurnBody } from "#src/sessions/turn-record.ts";
import { createMemoryBackend } from "#src/storage/sqlite/sqlite-backend.ts";
import { createStoreSessionRepository } from "#src/storage/store-session-repository.ts";
import { recalledText, recallTurns, type RecalledPiece } from "./recall.ts";

const AT = "2026-03-01T22:30:00.000Z";
const KEY = { owner: "local", sessionKey: "cli:main" };

function chainOf(ids: readonly string[]): Chain {
  const [first = "", ...later] = ids;
  return later.reduce(
    (chain, sessionId) =>
      rotateChain(chain, {
        sessionId,
        at: AT,
        deliveryId: "d",
        textHash: "t",
        verdict: { action: "rotate", trigger: "command", command: "/new" },
        turns: 1,
        head: "h",
        carried: { activeAgent: "lily", model: null, toldNoModel: false },
      }),
    openChain({ ...KEY, sessionId: first, at: AT, deliveryId: "d", textHash: "t" }),
  );
}

function openRepository(): SessionRepository {
  return createStoreSessionRepository(createMemoryBackend({ clock: createManualClock(0) }).store);
}

async function say(
  repository: SessionRepository,
  sessionId: string,
  turn: number,
  said: { readonly user: string; readonly assistant?: string; readonly kind?: TurnBody["kind"] },
): Promise<void> {
  const body: TurnBody = {
    v: 1,
    sessionId,
    turn,
    kind: said.kind ?? "chat",
    status: "completed",
    deliveryId: `d${turn}`,
    textHash: "t",
    at: AT,
    messages: [
      { role: "user", content: said.user, timestamp: AT },
      { role: "assistant", content: said.assistant ?? "Noted.", timestamp: AT },
    ],
    reply: {},
    explanation: { requestId: "r" },
  };
  await repository.writeTurn({ ...KEY, sessionId }, linkTurn(body, { head: "", salt: "s" }));
}

const ask = { held: [], characters: 9_000, query: "violin lessons", rationale: "the user asked" };

describe("recalling turns", () => {
  const chain = chainOf(["s1", "s2", "s3"]);

  it("finds an earlier turn with where it came from and why it was read", async () => {
    const repository = openRepository();
    await say(repository, "s1", 4, { user: "My violin lessons are on Monday.", assistant: "I see." });
    expect(await recallTurns(repository, { ...ask, chain })).toEqual([
      {
        sessionId: "s1",
        ordinal: 1,
        turn: 4,
        at: AT,
        score: 1,
        rationale: "the user asked",
        user: "My violin lessons are on Monday.",
        assistant: "I see.",
      },
    ]);
  });

  it("gives the best first, scored as a share of the best", async () => {
    const repository = openRepository();
    await say(repository, "s1", 1, { user: "lessons" });
    await say(repository, "s2", 1, { user: "violin lessons" });
    // A word that stands in most turns tells little.
    for (const turn of [2, 3, 4, 5]) await say(repository, "s2", turn, { user: "something else" });
    const [best, second, ...others] = await recallTurns(repository, { ...ask, chain });
    expect([best?.sessionId, second?.sessionId, others.length]).toEqual(["s2", "s1", 0]);
    expect(best?.score).toBe(1);
    expect(second?.score).toBeGreaterThan(0);
    expect(second?.score).toBeLessThan(1);
  });

  it("leaves out what the context holds, and commands, and finds the rest of the session that asks (C-1)", async () => {
    const repository = openRepository();
    for (const turn of [1, 2, 3]) await say(repository, "s3", turn, { user: `violin in turn ${turn}` });
    await say(repository, "s2", 2, { user: "/recall violin", kind: "command" });
    const held = [{ sessionId: "s3", from: 2, to: 3 }];
    const found = await recallTurns(repository, { ...ask, chain, held });
    expect(found.map(({ sessionId, turn }) => `${sessionId}/${turn}`)).toEqual(["s3/1"]);
  });

  it("lifts a turn that stands between two that fit, and gives it though it has none of the words", async () => {
    const repository = openRepository();
    await say(repository, "s1", 1, { user: "who teaches the violin lessons?" });
    await say(repository, "s1", 2, { user: "Ms Berg does" });
    await say(repository, "s1", 3, { user: "then the violin lessons are good" });
    await say(repository, "s2", 1, { user: "violin" });
    await say(repository, "s2", 2, { user: "the weather" });
    const found = await recallTurns(repository, { ...ask, chain });
    expect(found.map(({ sessionId, turn }) => `${sessionId}/${turn}`)).toEqual([
      "s1/1",
      "s1/3",
      "s1/2",
      "s2/1",
    ]);
  });

  it("counts what the user said more than the reply, and alike where people answer", async () => {
    const isFirst = async (isWithPeople: boolean) => {
      const repository = createStoreSessionRepository(
        createMemoryBackend({ clock: createManualClock(0) }).store,
        { isWithPeople: () => isWithPeople },
      );
      await say(repository, "s1", 1, {
        user: "what is new today",
        assistant: "violin lessons, violin lessons",
      });
      await say(repository, "s2", 1, { user: "my violin lessons are on Monday", assistant: "I see, noted" });
      for (const turn of [5, 9, 13]) await say(repository, "s2", turn, { user: "the weather" });
      return (await recallTurns(repository, { ...ask, chain }))[0]?.sessionId;
    };
    expect([await isFirst(false), await isFirst(true)]).toEqual(["s2", "s1"]);
  });

  it("ends with the piece that would pass the room there is, and gives the best whatever its size", async () => {
    const repository = openRepository();
    for (const turn of [1, 2, 3]) await say(repository, "s1", turn, { user: `violin ${"a".repeat(93)}` });
    expect(await recallTurns(repository, { ...ask, chain, characters: 215 })).toHaveLength(2);
    expect(await recallTurns(repository, { ...ask, chain, characters: 10 })).toHaveLength(1);
  });

  it("scores against the best of what is given, not of what was left out", async () => {
    const repository = openRepository();
    await say(repository, "s3", 1, { user: "violin lessons violin lessons" });
    await say(repository, "s1", 1, { user: "violin and much else beside it" });
    const held = [{ sessionId: "s3", from: 1, to: 1 }];
    expect((await recallTurns(repository, { ...ask, chain, held }))[0]?.score).toBe(1);
  });

  it("finds a turn of another session behind any number of better ones that the context holds", async () => {
    const repository = openRepository();
    await say(repository, "s1", 1, { user: "violin and much else beside it, at length" });
    for (let turn = 1; turn <= 260; turn += 1) await say(repository, "s3", turn, { user: "violin lessons" });
    const held = [{ sessionId: "s3", from: 1, to: 260 }];
    const found = await recallTurns(repository, { ...ask, chain, held });
    expect(found.map(({ sessionId }) => sessionId)).toEqual(["s1"]);
  });

  it.each([
    ["ten by default", undefined, 10],
    ["as many as asked for", 2, 2],
    ["none for a limit of 0", 0, 0],
  ])("gives %s", async (_what, limit, count) => {
    const repository = openRepository();
    for (let turn = 1; turn <= 14; turn += 1) await say(repository, "s1", turn, { user: `violin ${turn}` });
    const request = { ...ask, chain, ...(limit === undefined ? {} : { limit }) };
    expect(await recallTurns(repository, request)).toHaveLength(count);
  });

  it.each(["", "   ", "the of and", "zebra"])("finds nothing for %j", async (query) => {
    const repository = openRepository();
    await say(repository, "s1", 1, { user: "violin lessons" });
    expect(await recallTurns(repository, { ...ask, chain, query })).toEqual([]);
  });

  it("finds nothing of another key or owner", async () => {
    const repository = openRepository();
    await say(repository, "s1", 1, { user: "violin lessons" });
    const elsewhere = { ...chain, sessionKey: "cli:other" };
    expect(await recallTurns(repository, { ...ask, chain: elsewhere })).toEqual([]);
    expect(await recallTurns(repository, { ...ask, chain: { ...chain, owner: "eve" } })).toEqual([]);
  });

  it("shows 600 characters of a text whole, and of a longer one the part that says most of it", async () => {
    const repository = openRepository();
    const whole = "violin ".padEnd(600, "a");
    const assistant = `${"Nothing of it. ".repeat(90)}The lessons are at nine.${" Nothing of it.".repeat(90)}`;
    await say(repository, "s1", 1, { user: whole, assistant });
    const [piece] = await recallTurns(repository, { ...ask, chain });
    expect(piece?.user).toBe(whole);
    expect(piece?.assistant).toContain("The lessons are at nine.");
    expect(piece?.assistant.length).toBeLessThan(660);
  });
});

describe("recalled text", () => {
  const piece: RecalledPiece = {
    sessionId: "s1",
    ordinal: 1,
    turn: 4,
    at: AT,
    score: 0.5,
    rationale: "the user asked",
    user: "Monday.",
    assistant: "I see.",
  };

  it("says of each piece what it is, with the time in the user's zone", () => {
    expect(recalledText([piece], "Europe/Paris")).toBe(
      "From what was said earlier:\n\n" +
        "[session 1, turn 4, 2026-03-01 23:30, score 0.5; the user asked]\nUser: Monday.\nAssistant: I see.",
    );
  });

  it("parts the pieces by a blank line and keeps their order", () => {
    const text = recalledText([piece, { ...piece, ordinal: 2 }], "UTC");
    expect(text.split("\n\n").map((block) => block.slice(0, 10))).toEqual([
      "From what ",
      "[session 1",
      "[session 2",
    ]);
  });
});
