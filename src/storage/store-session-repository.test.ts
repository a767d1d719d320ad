import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { beforeEach, describe, expect, it } from "vitest";
import { createManualClock } from "#src/kernel/clock.ts";
import { openChain, type Chain } from "#src/sessions/chain.ts";
import type { FailedTurn, KeyRef, SessionRepository, TranscriptRef } from "#src/sessions/repository.ts";
import { EMPTY_HEAD, linkTurn, textHashOf } from "#src/sessions/seal.ts";
import type { TurnRecord } from "#src/sessions/turn-record.ts";
import {
  chainNamespace,
  deliveryNamespace,
  explanationNamespace,
  historyNamespace,
  turnItemKey,
} from "./session-items.ts";
import { createStoreSessionRepository } from "./store-session-repository.ts";
import { repositoryStores } from "./testing/repository-stores.ts";

const AT = "2026-03-01T09:00:00.000Z";
const clock = createManualClock(Date.parse(AT));

function chainOf(ref: KeyRef, sessionId: string): Chain {
  return openChain({ ...ref, sessionId, at: AT, deliveryId: `first of ${sessionId}`, textHash: "h" });
}

function turnOf(sessionId: string, turn: number, text: string): TurnRecord {
  const messages: TurnRecord["messages"] = [
    { role: "user", content: text, timestamp: AT },
    { role: "assistant", content: "noted", timestamp: AT },
  ];
  const body = {
    v: 1,
    sessionId,
    turn,
    kind: "chat",
    status: "completed",
    deliveryId: `d${turn}`,
    textHash: textHashOf(text),
    at: AT,
    messages,
    reply: {},
    explanation: { requestId: `r${turn}` },
  } as const;
  return linkTurn(body, { head: EMPTY_HEAD, salt: `salt-${turn}` });
}

function failureOf(sessionId: string, number: number): FailedTurn {
  const text = `text ${number}`;
  return {
    sessionId,
    deliveryId: `d${number}`,
    requestId: "r",
    at: AT,
    code: "turn_failed",
    message: "m",
    node: "solve",
    text,
  };
}

// Ids that a store could mistake for each other, or for its own syntax.
const AWKWARD_IDS = [
  "a.b:c%_",
  "",
  "🦜",
  "a",
  "A",
  "a:b",
  "a.b",
  "b:c",
  "user1",
  "user10",
  "user%",
  "user_",
  "=",
  "=2E",
  "a b",
  "é",
  "e\u0301",
];

describe.each(repositoryStores(clock))("sessions on %s", (_name, openStore) => {
  let store: BaseStore;
  let sessions: SessionRepository;
  const key: KeyRef = { owner: "mara", sessionKey: "telegram:dm:42" };
  const transcript: TranscriptRef = { ...key, sessionId: "s1" };

  beforeEach(() => {
    store = openStore();
    sessions = createStoreSessionRepository(store);
  });

  it("give everything back as it was written", async () => {
    const chain = chainOf(key, "s1");
    const record = turnOf("s1", 1, "hello");
    const failure = failureOf("s1", 1);
    await sessions.writeChain(chain);
    await sessions.indexSession("s1", Object.assign({ extra: "is not kept" }, key));
    await sessions.writeTurn(transcript, record);
    await sessions.writeDelivery(key, "d1", { sessionId: "s1", turn: 1 });
    await sessions.writeDelivery(key, "d2", { sessionId: "s1", turn: null });
    await sessions.writeFailure(transcript, failure);

    expect(await sessions.readChain(key)).toEqual(chain);
    expect(await sessions.findSession("s1")).toEqual(key);
    expect(await sessions.readTurn(transcript, 1)).toEqual(record);
    expect(await sessions.readDelivery(key, "d1")).toEqual({ sessionId: "s1", turn: 1 });
    expect(await sessions.readDelivery(key, "d2")).toEqual({ sessionId: "s1", turn: null });
    expect(await sessions.readFailures(transcript)).toEqual([failure]);
  });

  it("know nothing of what was never written", async () => {
    expect(await sessions.readChain(key)).toBeUndefined();
    expect(await sessions.findSession("s1")).toBeUndefined();
    expect(await sessions.readTurn(transcript, 1)).toBeUndefined();
    expect(await sessions.readTurns(transcript, { from: 1, to: 3 })).toEqual([]);
    expect(await sessions.readDelivery(key, "d1")).toBeUndefined();
    expect(await sessions.readFailures(transcript)).toEqual([]);
    expect(await sessions.listChains("mara")).toEqual([]);
    expect(await sessions.searchTurns(key, "hello", 5)).toEqual([]);
  });

  it("take the newest write of a chain, a turn and a delivery", async () => {
    const chain = { ...chainOf(key, "s1"), revision: 2 };
    await sessions.writeChain(chainOf(key, "s1"));
    await sessions.writeChain(chain);
    await sessions.writeDelivery(key, "d", { sessionId: "s1", turn: null });
    await sessions.writeDelivery(key, "d", { sessionId: "s1", turn: 4 });
    expect(await sessions.readChain(key)).toEqual(chain);
    expect(await sessions.readDelivery(key, "d")).toEqual({ sessionId: "s1", turn: 4 });
  });

  it("read a range of turns in order, without the numbers that have no record", async () => {
    for (const turn of [11, 2, 1, 9, 10])
      await sessions.writeTurn(transcript, turnOf("s1", turn, `text ${turn}`));
    const numbers = async (from: number, to: number): Promise<number[]> =>
      (await sessions.readTurns(transcript, { from, to })).map((record) => record.turn);
    expect(await numbers(1, 20)).toEqual([1, 2, 9, 10, 11]);
    expect(await numbers(2, 10)).toEqual([2, 9, 10]);
    expect(await numbers(-5, 1)).toEqual([1]);
    expect(await numbers(10, 9)).toEqual([]);
  });

  it("list an owner's chains in the order in which their keys were first used", async () => {
    const keys = ["zebra", "apple", "10", "9"];
    for (const sessionKey of keys)
      await sessions.writeChain(chainOf({ owner: "mara", sessionKey }, `s-${sessionKey}`));
    await sessions.writeChain({ ...chainOf({ owner: "mara", sessionKey: "zebra" }, "s-zebra"), revision: 2 });
    expect((await sessions.listChains("mara")).map((chain) => chain.sessionKey)).toEqual(keys);
  });

  it("list more chains than a page of the store holds", async () => {
    for (let index = 0; index < 205; index += 1) {
      await sessions.writeChain(chainOf({ owner: "mara", sessionKey: `k${index}` }, `s${index}`));
    }
    expect(await sessions.listChains("mara")).toHaveLength(205);
  });

  describeSeparation(() => sessions);
  describeSearch(() => sessions, key);

  it.each([
    ["chain", () => chainNamespace(key), "chain", () => sessions.readChain(key)],
    ["session index", () => ["session-index"], "s1", () => sessions.findSession("s1")],
    ["turn", () => historyNamespace(transcript), turnItemKey(1), () => sessions.readTurn(transcript, 1)],
    [
      "range of turns",
      () => historyNamespace(transcript),
      turnItemKey(1),
      () => sessions.readTurns(transcript, { from: 1, to: 2 }),
    ],
    ["delivery", () => deliveryNamespace(key), "d1", () => sessions.readDelivery(key, "d1")],
    [
      "explanation",
      () => explanationNamespace(transcript),
      "failures",
      () => sessions.readFailures(transcript),
    ],
    ["list of chains", () => chainNamespace(key), "chain", () => sessions.listChains("mara")],
  ] as const)(
    "refuse a damaged %s as record_invalid and name the item",
    async (_what, namespace, itemKey, read) => {
      await store.put([...namespace()], itemKey, { v: 1, damaged: true }, false);
      await expect(read()).rejects.toMatchObject({
        code: "record_invalid",
        message: expect.stringContaining(namespace()[0] ?? "") as string,
      });
    },
  );

  it("keep the newest 20 failures of a session, oldest first, and those of other sessions", async () => {
    for (let number = 1; number <= 23; number += 1)
      await sessions.writeFailure(transcript, failureOf("s1", number));
    const other = { ...key, sessionId: "s2" };
    await sessions.writeFailure(other, failureOf("s2", 99));
    const kept = await sessions.readFailures(transcript);
    expect(kept.map((failure) => failure.text)).toEqual(
      Array.from({ length: 20 }, (_unused, index) => `text ${index + 4}`),
    );
    expect(await sessions.readFailures(other)).toHaveLength(1);
  });
});

function describeSeparation(sessions: () => SessionRepository): void {
  it("keep owners apart, whatever their names are made of", async () => {
    for (const owner of AWKWARD_IDS)
      await sessions().writeChain(chainOf({ owner, sessionKey: "k" }, `of ${owner}`));
    for (const owner of AWKWARD_IDS) {
      expect((await sessions().listChains(owner)).map((chain) => chain.owner)).toEqual([owner]);
      expect((await sessions().readChain({ owner, sessionKey: "k" }))?.latest).toBe(`of ${owner}`);
    }
  });

  it("keep the keys, sessions and deliveries of an owner apart, whatever they are made of", async () => {
    for (const id of AWKWARD_IDS) {
      await sessions().writeChain(chainOf({ owner: "o", sessionKey: id }, `of ${id}`));
      await sessions().writeTurn({ owner: "o", sessionKey: "k", sessionId: id }, turnOf(id, 1, "hello"));
      await sessions().writeDelivery({ owner: "o", sessionKey: "k" }, id, { sessionId: id, turn: 1 });
      await sessions().indexSession(id, { owner: "o", sessionKey: id });
    }
    for (const id of AWKWARD_IDS) {
      expect((await sessions().readChain({ owner: "o", sessionKey: id }))?.latest).toBe(`of ${id}`);
      expect((await sessions().readTurn({ owner: "o", sessionKey: "k", sessionId: id }, 1))?.sessionId).toBe(
        id,
      );
      expect((await sessions().readDelivery({ owner: "o", sessionKey: "k" }, id))?.sessionId).toBe(id);
      expect((await sessions().findSession(id))?.sessionKey).toBe(id);
    }
    expect(await sessions().listChains("o")).toHaveLength(AWKWARD_IDS.length);
  });

  it("keep pairs apart that read the same when they are joined", async () => {
    const pairs = [
      { owner: "a:b", sessionKey: "c" },
      { owner: "a", sessionKey: "b:c" },
      { owner: "a.b", sessionKey: "c" },
      { owner: "a", sessionKey: "b.c" },
    ];
    for (const [index, pair] of pairs.entries()) await sessions().writeChain(chainOf(pair, `s${index}`));
    const latest = await Promise.all(pairs.map(async (pair) => (await sessions().readChain(pair))?.latest));
    expect(latest).toEqual(["s0", "s1", "s2", "s3"]);
  });
}

function describeSearch(sessions: () => SessionRepository, key: KeyRef): void {
  it("find the turns of any session of the key by their words, best first", async () => {
    await sessions().writeTurn({ ...key, sessionId: "s1" }, turnOf("s1", 1, "my sister moved to Lisbon"));
    await sessions().writeTurn({ ...key, sessionId: "s1" }, turnOf("s1", 2, "the weather is fine"));
    await sessions().writeTurn(
      { ...key, sessionId: "s2" },
      turnOf("s2", 1, "Lisbon, and Lisbon's trams, with my sister in Lisbon"),
    );
    const found = await sessions().searchTurns(key, "sister in lisbon?", 5);
    expect(found.map(({ sessionId, turn }) => `${sessionId}/${turn}`).sort()).toEqual(["s1/1", "s2/1"]);
    expect(found.every(({ score }) => score > 0)).toBe(true);
    expect(found[0]?.score).toBeGreaterThanOrEqual(found[1]?.score ?? 0);
    expect(await sessions().searchTurns(key, "Lisbon", 1)).toHaveLength(1);
  });

  it("find nothing for blank text, words that no turn has, or the words of another key or owner", async () => {
    await sessions().writeTurn({ ...key, sessionId: "s1" }, turnOf("s1", 1, "Lisbon"));
    await sessions().writeTurn(
      { owner: `${key.owner}0`, sessionKey: key.sessionKey, sessionId: "s9" },
      turnOf("s9", 1, "Porto"),
    );
    await sessions().writeTurn(
      { owner: key.owner, sessionKey: `${key.sessionKey}0`, sessionId: "s8" },
      turnOf("s8", 1, "Porto"),
    );
    for (const query of ["", "  ", "?!", "Porto", "telegram", "salt"]) {
      expect(await sessions().searchTurns(key, query, 5)).toEqual([]);
    }
  });
}
