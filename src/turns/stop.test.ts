import { afterEach, describe, expect, it, vi } from "vitest";
import { InMemoryStore } from "@langchain/langgraph-checkpoint";
import { obeyRequests, requestStop, StopRegistry, type RunningTurn } from "./stop.ts";
import { createFakeTimer } from "./testing/fake-timer.ts";

const running = (deliveryId = "d1", sessionId = "s1"): RunningTurn => ({
  deliveryIds: [deliveryId],
  token: 1,
  stop: new AbortController(),
  sessionId,
});

describe("the turn that runs on a key", () => {
  it("is the one that entered last, until it ends, also when an earlier one ends late", () => {
    const registry = new StopRegistry();
    const endFirst = registry.enter("key", running("d1"));
    const endSecond = registry.enter("key", running("d2"));
    registry.enter("other", running("d3"));
    endFirst();
    expect(registry.runningOn("key")?.deliveryIds).toEqual(["d2"]);
    endSecond();
    expect(registry.runningOn("key")).toBeUndefined();
    expect(new StopRegistry().runningOn("other")).toBeUndefined();
  });

  it("is stopped by the signal of the session on which it runs now", () => {
    const registry = new StopRegistry();
    const turn = running("d1", "s1");
    const end = registry.enter("key", turn);
    registry.enter("other", running("d2", "s9"));
    turn.sessionId = "s2";
    expect(registry.signalFor("s1")).toBeUndefined();
    registry.runningOn("key")?.stop.abort();
    expect([registry.signalFor("s2")?.aborted, registry.signalFor("s9")?.aborted]).toEqual([true, false]);
    end();
    expect(registry.signalFor("s2")).toBeUndefined();
  });
});

describe("a turn in another process", () => {
  const ref = { owner: "local", sessionKey: "k" };
  const at = (token: number): RunningTurn => ({
    deliveryIds: ["a", "b"],
    token,
    stop: new AbortController(),
    sessionId: "s",
  });
  const depsHeldBy = (token: number, store = new InMemoryStore()) => ({
    stops: new StopRegistry(),
    locks: { holder: async () => ({ lockName: "turn/local/k", token }) },
    store,
  });

  afterEach(() => void vi.useRealTimers());

  it("stops when it looks next, not before, and leaves no request behind", async () => {
    const deps = depsHeldBy(7);
    const timer = createFakeTimer();
    const mine = at(7);
    const end = obeyRequests(deps, ref, mine);
    expect(await requestStop(deps, ref, "x")).toMatchObject({ kind: "asked", where: "elsewhere", token: 7 });
    await timer.advance(249);
    expect(mine.stop.signal.aborted).toBe(false);
    await timer.advance(1);
    expect(mine.stop.signal.aborted).toBe(true);
    await end();
    expect(await deps.store.search(["stop-requests"])).toEqual([]);
    expect(timer.pending).toBe(0);
  });

  it("declines what asks in the name of a delivery that it answers", async () => {
    const deps = depsHeldBy(7);
    const timer = createFakeTimer();
    const mine = at(7);
    const end = obeyRequests(deps, ref, mine);
    await requestStop(deps, ref, "b");
    await timer.advance(250);
    expect(mine.stop.signal.aborted).toBe(false);
    expect(await deps.store.search(["stop-requests"])).toEqual([]);
    await end();
  });

  it("does not hear what was asked of the turn before it", async () => {
    const store = new InMemoryStore();
    await requestStop(depsHeldBy(6, store), ref, "x");
    const timer = createFakeTimer();
    const mine = at(7);
    const end = obeyRequests(depsHeldBy(7, store), ref, mine);
    await timer.advance(1_000);
    expect(mine.stop.signal.aborted).toBe(false);
    await end();
  });

  it("hears the request at a later look when the store did not answer", async () => {
    const deps = depsHeldBy(7);
    let isDown = true;
    const get = deps.store.get.bind(deps.store);
    deps.store.get = async (...item) => (isDown ? Promise.reject(new Error("locked")) : get(...item));
    const timer = createFakeTimer();
    const mine = at(7);
    const end = obeyRequests(deps, ref, mine);
    await requestStop(deps, ref, "x");
    await timer.advance(250);
    expect(mine.stop.signal.aborted).toBe(false);
    isDown = false;
    await timer.advance(250);
    expect(mine.stop.signal.aborted).toBe(true);
    await end();
  });
});
