import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { beforeEach, describe, expect, it } from "vitest";
import { createManualClock } from "#src/kernel/clock.ts";
import { openChain, type Chain } from "#src/sessions/chain.ts";
import type { SessionRepository } from "#src/sessions/repository.ts";
import { EMPTY_HEAD, linkTurn } from "#src/sessions/seal.ts";
import { turnBody } from "#src/sessions/testing/turn-body.ts";
import type { TurnBody, TurnRecord } from "#src/sessions/turn-record.ts";
import { createMemoryBackend } from "./sqlite/sqlite-backend.ts";
import { historyNamespace, turnItemKey } from "./session-items.ts";
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
    expect(await sessions.readStoredTurn(other, 1)).toMatchObject({ redacted: { at: LATER } });
    await store.put(historyNamespace(REF), turnItemKey(4), { pear: ["pear"], turn: "4", head: 1 });
    expect(await sessions.redactTurns(KEY, [{ sessionId: "s1", turn: 4 }], LATER)).toEqual({ redacted: 1 });
    expect(await sessions.readStoredTurn(REF, 4)).toMatchObject({ turn: 4, redacted: { at: LATER } });
    const item = await store.get(historyNamespace(REF), turnItemKey(4));
    expect(JSON.stringify(item?.value)).not.toContain("pear");
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
