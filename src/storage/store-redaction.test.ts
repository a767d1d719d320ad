import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { beforeEach, describe, expect, it } from "vitest";
import { createManualClock } from "#src/kernel/clock.ts";
import { openChain, type Chain } from "#src/sessions/chain.ts";
import type { FailedTurn, SayingTurn, SessionRepository } from "#src/sessions/repository.ts";
import { EMPTY_HEAD, linkTurn } from "#src/sessions/seal.ts";
import { countTurns } from "#src/sessions/transcript.ts";
import { turnBody } from "#src/sessions/testing/turn-body.ts";
import type { TurnBody, TurnRecord } from "#src/sessions/turn-record.ts";
import { createMemoryBackend } from "./memory/memory-backend.ts";
import { explanationNamespace, historyNamespace, turnItemKey } from "./session-namespaces.ts";
import { createStoreSessionRepository } from "./store-session-repository.ts";
import { repositoryStores } from "./testing/repository-stores.ts";

const AT = "2026-03-01T09:00:00.000Z";
const LATER = "2026-04-01T09:00:00.000Z";
const KEY = { owner: "mara", sessionKey: "telegram:dm:42" };
const REF = { ...KEY, sessionId: "s1" };
const clock = createManualClock(Date.parse(AT));

function turnOf(turn: number, text: string, changes: Partial<TurnBody> = {}): TurnRecord {
  const body = turnBody({
    turn,
    at: AT,
    messages: [
      { role: "user", content: text, timestamp: AT },
      { role: "assistant", content: "noted", timestamp: AT },
    ],
    explanation: { requestId: `r${turn}` },
    ...changes,
  });
  return linkTurn(body, { head: EMPTY_HEAD, salt: `salt-${turn}` });
}

function chainOf(ref = KEY): Chain {
  return openChain({ ...ref, sessionId: "s1", at: AT, deliveryId: "d1", textHash: "hash of d1" });
}

function failureOf(sessionId: string, text: string): FailedTurn {
  return {
    sessionId,
    deliveryId: "d9",
    requestId: "r",
    at: AT,
    code: "turn_failed",
    message: "m",
    node: "solve",
    text,
  };
}

async function all(found: AsyncIterable<SayingTurn>): Promise<SayingTurn[]> {
  const turns: SayingTurn[] = [];
  for await (const turn of found) turns.push(turn);
  return turns;
}

const saysPear = (text: string): boolean => text.toLowerCase().includes("pear");

describe.each(repositoryStores(clock))("erasing turns on %s", (_name, openStore) => {
  let store: BaseStore;
  let sessions: SessionRepository;
  beforeEach(async () => {
    store = openStore();
    sessions = createStoreSessionRepository(store);
    await sessions.writeChain(chainOf());
    const texts = ["the pear tree is old", "plums are blue", "a pear a day"];
    for (const [index, text] of texts.entries()) await sessions.writeTurn(REF, turnOf(index + 1, text));
  });

  it("leaves marks under their numbers, of which readers of turns see nothing", async () => {
    const turns = [
      { sessionId: "s1", turn: 1 },
      { sessionId: "s1", turn: 3 },
    ];
    expect(await sessions.redactTurns(KEY, turns, LATER)).toEqual({ redacted: 2 });
    const range = { from: 1, to: 3 };
    expect(await sessions.readTurn(REF, 1)).toBeUndefined();
    expect((await sessions.readTurns(REF, range)).map(({ turn }) => turn)).toEqual([2]);
    expect(await sessions.searchTurns(KEY, "pear", 5)).toEqual([]);
    expect(await sessions.searchTurns(KEY, "plums", 5)).toHaveLength(1);
    expect(await sessions.readStoredTurn(REF, 3)).toMatchObject({
      deliveryId: "d3",
      redacted: { at: LATER },
    });
    expect(await sessions.readStoredTurns(REF, range)).toHaveLength(3);
    expect(await sessions.lastStoredTurn(REF)).toBe(3);
    expect(await countTurns(sessions, REF)).toBe(3);
    expect(await sessions.readDelivery(KEY, "d3")).toEqual({ sessionId: "s1", turn: 3 });
  });

  it("leaves none of the words in the item, and none of the text that opened the key in the chain", async () => {
    await sessions.redactTurns(KEY, [{ sessionId: "s1", turn: 1 }], LATER);
    const item = await store.get(historyNamespace(REF), turnItemKey(1));
    expect(JSON.stringify(item?.value)).not.toMatch(/pear|salt|noted/u);
    expect(JSON.stringify(await sessions.readChain(KEY))).not.toContain("hash of d1");
  });

  it("is the same when it is done again, and keeps the time of the first erasure", async () => {
    await sessions.redactTurns(KEY, [{ sessionId: "s1", turn: 1 }], AT);
    const chain = await sessions.readChain(KEY);
    expect(await sessions.redactTurns(KEY, [{ sessionId: "s1", turn: 1 }], LATER)).toEqual({ redacted: 0 });
    expect(await sessions.readChain(KEY)).toEqual(chain);
    expect(await sessions.readStoredTurn(REF, 1)).toMatchObject({ redacted: { at: AT } });
  });

  it("passes over what is not stored", async () => {
    const turns = [
      { sessionId: "s1", turn: 9 },
      { sessionId: "s9", turn: 1 },
    ];
    expect(await sessions.redactTurns(KEY, turns, LATER)).toEqual({ redacted: 0 });
    expect(await sessions.readChain(KEY)).toEqual(chainOf());
  });

  it("erases turns that have no chain, and damaged ones", async () => {
    const other = { ...REF, sessionKey: "gone" };
    await sessions.writeTurn(other, turnOf(1, "pear"));
    expect(await sessions.redactTurns(other, [{ sessionId: "s1", turn: 1 }], LATER)).toEqual({ redacted: 1 });
    expect(await sessions.readChain(other)).toBeUndefined();
    await store.put(historyNamespace(REF), turnItemKey(4), { pear: ["pear"], turn: "4", head: 1 });
    expect(await sessions.redactTurns(KEY, [{ sessionId: "s1", turn: 4 }], LATER)).toEqual({ redacted: 1 });
    expect(await sessions.readStoredTurn(REF, 4)).toMatchObject({ turn: 4, redacted: { at: LATER } });
    const item = await store.get(historyNamespace(REF), turnItemKey(4));
    expect(JSON.stringify(item?.value)).not.toContain("pear");
  });

  it("finds what says it in every key and session of the owner, and of nobody else", async () => {
    await sessions.writeTurn({ ...KEY, sessionKey: "a.b:c%_", sessionId: "" }, turnOf(2, "Pear!"));
    await sessions.writeTurn({ ...KEY, owner: "mara1", sessionId: "s1" }, turnOf(1, "pear"));
    await sessions.redactTurns(KEY, [{ sessionId: "s1", turn: 1 }], LATER);
    const found = await all(sessions.findTurns("mara", saysPear));
    expect(found).toEqual([
      { ref: REF, turn: 3, at: AT, kind: "chat", strings: ["a pear a day"], units: 0 },
      {
        ref: { ...KEY, sessionKey: "a.b:c%_", sessionId: "" },
        turn: 2,
        at: AT,
        kind: "chat",
        strings: ["Pear!"],
        units: 0,
      },
    ]);
  });

  it("finds what only the strings of a turn together say", async () => {
    const says = (text: string): boolean => text.includes("plums") && text.includes("noted");
    expect(await all(sessions.findTurns("mara", says))).toMatchObject([{ turn: 2, strings: [] }]);
  });

  it("finds a damaged turn that says it", async () => {
    await store.put(historyNamespace(REF), turnItemKey(4), { messages: "a pear", at: 7 });
    const found = await all(sessions.findTurns("mara", saysPear));
    expect(found.at(-1)).toEqual({ ref: REF, turn: 4, at: "", kind: "chat", strings: ["a pear"], units: 0 });
  });

  it("drops the failed turns of the owner that say it, and the list with the last of them", async () => {
    const other = { ...KEY, sessionId: "s2" };
    const stranger = { ...KEY, owner: "mara1", sessionId: "s1" };
    for (const text of ["pear", "plum", "PEAR"]) await sessions.writeFailure(REF, failureOf("s1", text));
    await sessions.writeFailure(other, failureOf("s2", "pear"));
    await sessions.writeFailure(stranger, failureOf("s1", "pear"));
    expect(await sessions.eraseFailures("mara", saysPear)).toBe(3);
    expect((await sessions.readFailures(REF)).map(({ text }) => text)).toEqual(["plum"]);
    expect(await sessions.readFailures(other)).toEqual([]);
    expect((await store.get(explanationNamespace(other), "failures")) ?? null).toBeNull();
    expect(await sessions.readFailures(stranger)).toHaveLength(1);
    expect(await sessions.eraseFailures("mara", saysPear)).toBe(0);
  });

  it("takes titles out of the chains of the owner and of nobody else", async () => {
    const titled = {
      ...chainOf(),
      sessions: chainOf().sessions.map((entry) => ({ ...entry, title: "Pears" })),
    };
    await sessions.writeChain(titled);
    await sessions.writeChain({ ...titled, owner: "mara1" });
    expect(await sessions.eraseChainTexts("mara", saysPear, LATER)).toBe(1);
    expect((await sessions.readChain(KEY))?.sessions[0]?.title).toBeUndefined();
    expect((await sessions.readChain({ ...KEY, owner: "mara1" }))?.sessions[0]?.title).toBe("Pears");
  });
});

describe("a crash in an erasure", () => {
  it("leaves the list, and no body that is gone without it", async () => {
    const { store } = createMemoryBackend({ clock });
    const sessions = createStoreSessionRepository(store);
    await sessions.writeChain(chainOf());
    for (const turn of [1, 2]) await sessions.writeTurn(REF, turnOf(turn, "pear"));
    const batch = store.batch.bind(store);
    const order: string[] = [];
    store.batch = async (operations) => {
      const kinds = operations.flatMap((operation) =>
        "value" in operation ? [operation.namespace[0] ?? ""] : [],
      );
      order.push(...kinds);
      if (kinds.includes("history")) throw new Error("killed");
      return batch(operations);
    };
    const turns = [1, 2].map((turn) => ({ sessionId: "s1", turn }));
    await expect(sessions.redactTurns(KEY, turns, AT)).rejects.toThrow("killed");
    expect(order).toEqual(["sessions", "history", "history"]);
    expect((await sessions.readChain(KEY))?.redactions?.[0]?.turns).toEqual([1, 2]);
    expect(await sessions.readTurns(REF, { from: 1, to: 2 })).toHaveLength(2);
    store.batch = batch;
    expect(await sessions.redactTurns(KEY, turns, LATER)).toEqual({ redacted: 2 });
    expect(await sessions.readStoredTurn(REF, 2)).toMatchObject({ redacted: { at: AT } });
  });
});
