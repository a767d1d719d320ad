import { describe, expect, it } from "vitest";
import { createManualClock } from "#src/kernel/clock.ts";
import { createSequentialIds } from "#src/kernel/ids.ts";
import { openChain } from "#src/sessions/chain.ts";
import type { FailedTurn } from "#src/sessions/repository.ts";
import { EMPTY_HEAD, linkTurn } from "#src/sessions/seal.ts";
import { turnBody } from "#src/sessions/testing/turn-body.ts";
import { createMemoryBackend } from "#src/storage/sqlite/sqlite-backend.ts";
import { explanationNamespace, historyNamespace, turnItemKey } from "#src/storage/session-items.ts";
import { createStoreSessionRepository } from "#src/storage/store-session-repository.ts";
import { repositoryStores } from "#src/storage/testing/repository-stores.ts";
import { erase, findAll, searchFor } from "./erase.ts";
import { countOf } from "./place.ts";

const AT = "2026-03-01T09:00:00.000Z";
const KEY = { owner: "mara", sessionKey: "telegram:dm:42" };
const REF = { ...KEY, sessionId: "s1" };
const clock = createManualClock(Date.parse(AT));
const TARGET = { owner: "mara", text: "pear" };

const turnOf = (turn: number, content: string) =>
  linkTurn(
    turnBody({
      turn,
      at: AT,
      messages: [
        { role: "user", content, timestamp: AT },
        { role: "assistant", content: "noted", timestamp: AT },
      ],
    }),
    { head: EMPTY_HEAD, salt: `salt-${turn}` },
  );

const failureOf = (sessionId: string, text: string): FailedTurn => ({
  sessionId,
  deliveryId: "d9",
  requestId: "r",
  at: AT,
  code: "turn_failed",
  message: "m",
  node: "solve",
  text,
});

describe.each(repositoryStores(clock))("conversations on %s", (_name, openStore) => {
  const open = () => {
    const store = openStore();
    const backend = createMemoryBackend({ clock });
    const deps = {
      storage: { ...backend, store, fencedStore: () => store },
      clock,
      ids: createSequentialIds(7),
    };
    const find = async (place: string, text = "pear") =>
      (await findAll(searchFor(deps, { ...TARGET, text }))).get(place) ?? [];
    return { store, deps, find, sessions: createStoreSessionRepository(store) };
  };

  it("find turns that say it in every key and session of the owner, damaged ones too, and of nobody else", async () => {
    const { store, find, sessions } = open();
    await sessions.writeTurn(REF, turnOf(1, "a pear"));
    await sessions.writeTurn(REF, turnOf(2, "a plum"));
    await sessions.writeTurn({ ...KEY, sessionKey: "a.b:c%_", sessionId: "" }, turnOf(2, "Pear!"));
    await sessions.writeTurn({ ...REF, owner: "mara1" }, turnOf(1, "pear"));
    await store.put(historyNamespace(REF), turnItemKey(4), { messages: "a pear", at: 7 });
    const found = await find("transcripts");
    expect(found.map(({ sessionKey, key }) => [sessionKey, Number(key)]).sort()).toEqual([
      ["a.b:c%_", 2],
      [KEY.sessionKey, 1],
      [KEY.sessionKey, 4],
    ]);
    expect(await find("transcripts", "plum noted")).toHaveLength(1);
    await sessions.redactTurns(KEY, [{ sessionId: "s1", turn: 1 }], AT);
    expect(await find("transcripts")).toHaveLength(2);
  });

  it("drop the failed turns of the owner that say it, and the list with the last of them", async () => {
    const { store, deps, find, sessions } = open();
    const [other, stranger] = [
      { ...KEY, sessionId: "s2" },
      { ...REF, owner: "mara1" },
    ];
    for (const text of ["pear", "plum", "PEAR"]) await sessions.writeFailure(REF, failureOf("s1", text));
    await sessions.writeFailure(other, failureOf("s2", "pear"));
    await sessions.writeFailure(stranger, failureOf("s1", "pear"));
    expect(countOf(await find("failed turns"))).toBe(3);
    await erase(deps, TARGET);
    expect((await sessions.readFailures(REF)).map(({ text }) => text)).toEqual(["plum"]);
    expect((await store.get(explanationNamespace(other), "failures")) ?? null).toBeNull();
    expect(await sessions.readFailures(stranger)).toHaveLength(1);
    expect(await find("failed turns")).toEqual([]);
  });

  it("lose titles of the owner and of nobody else", async () => {
    const { deps, sessions } = open();
    const chain = openChain({ ...REF, at: AT, deliveryId: "d1", textHash: "h" });
    const titled = { ...chain, sessions: chain.sessions.map((entry) => ({ ...entry, title: "A pear" })) };
    await sessions.writeChain(titled);
    await sessions.writeChain({ ...titled, owner: "mara1" });
    const { lines } = await erase(deps, TARGET);
    expect(lines).toContainEqual({ place: "titles", outcome: "erased", count: 1 });
    expect((await sessions.readChain(KEY))?.sessions[0]?.title).toBeUndefined();
    expect((await sessions.readChain({ ...KEY, owner: "mara1" }))?.sessions[0]?.title).toBe("A pear");
  });

  it("lose what is in flight, and summaries of a session of which a turn is erased", async () => {
    const { store, deps, sessions } = open();
    await sessions.writeTurn(REF, turnOf(1, "a pear"));
    const key = historyNamespace(REF)[2] ?? "";
    await store.put(["in-flight", "mara", key], "turn", { messages: [{ content: "a pear" }] });
    await store.put(["summaries", "mara", key, "s1"], "1-9", { text: "fruit was talked about" });
    await store.put(["summaries", "mara", key, "s2"], "1-9", { text: "plums were talked about" });
    const { lines } = await erase(deps, TARGET);
    expect(lines).toContainEqual({ place: "turns in flight", outcome: "erased", count: 1 });
    expect(lines).toContainEqual({ place: "summaries", outcome: "erased", count: 1 });
    expect(await store.search(["summaries"])).toHaveLength(1);
  });
});
