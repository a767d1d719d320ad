import { afterEach, describe, expect, it, vi } from "vitest";
import { InMemoryStore } from "@langchain/langgraph-checkpoint";
import { obeyRequests, requestStop, StopRegistry, type RunningTurn } from "./stop.ts";
import { createFakeTimer } from "./testing/fake-timer.ts";

const running = (deliveryId = "d1"): RunningTurn => ({
  deliveryIds: [deliveryId],
  token: 1,
  stop: new AbortController(),
});

describe("the delivery that runs on a key", () => {
  it("is there from when it is registered until it ends", () => {
    const registry = new StopRegistry();
    const delivery = running();
    expect(registry.runningOn("key")).toBeUndefined();
    const end = registry.onKey("key", delivery);
    expect(registry.runningOn("key")).toBe(delivery);
    end();
    expect(registry.runningOn("key")).toBeUndefined();
  });

  it("is not that of another key", () => {
    const registry = new StopRegistry();
    registry.onKey("other", running());
    expect(registry.runningOn("key")).toBeUndefined();
  });

  it("is the one that was registered last", () => {
    const registry = new StopRegistry();
    registry.onKey("key", running("d1"));
    registry.onKey("key", running("d2"));
    expect(registry.runningOn("key")?.deliveryIds).toEqual(["d2"]);
  });

  it("stays when an earlier one ends late, however often it ends", () => {
    const registry = new StopRegistry();
    const endFirst = registry.onKey("key", running("d1"));
    const endSecond = registry.onKey("key", running("d2"));
    endFirst();
    endFirst();
    expect(registry.runningOn("key")?.deliveryIds).toEqual(["d2"]);
    endSecond();
    expect(registry.runningOn("key")).toBeUndefined();
  });

  it("is none under a name that every object has a property of", () => {
    expect(new StopRegistry().runningOn("constructor")).toBeUndefined();
  });
});

describe("the signal of a session", () => {
  it("is there from when the session runs until it ends", () => {
    const registry = new StopRegistry();
    const { signal } = new AbortController();
    expect(registry.signalFor("s1")).toBeUndefined();
    const end = registry.onSession("s1", signal);
    expect(registry.signalFor("s1")).toBe(signal);
    expect(registry.signalFor("s2")).toBeUndefined();
    end();
    expect(registry.signalFor("s1")).toBeUndefined();
  });

  it("is another thing than the delivery of a key of the same name", () => {
    const registry = new StopRegistry();
    registry.onSession("same", new AbortController().signal);
    expect(registry.runningOn("same")).toBeUndefined();
  });

  it("is aborted when the delivery is stopped under which the session runs", () => {
    const registry = new StopRegistry();
    const delivery = running();
    registry.onKey("key", delivery);
    registry.onSession("s1", delivery.stop.signal);
    registry.runningOn("key")?.stop.abort();
    expect(registry.signalFor("s1")?.aborted).toBe(true);
  });
});

describe("two registries", () => {
  it("know nothing of each other", () => {
    const [one, other] = [new StopRegistry(), new StopRegistry()];
    one.onKey("key", running());
    one.onSession("s1", new AbortController().signal);
    expect(other.runningOn("key")).toBeUndefined();
    expect(other.signalFor("s1")).toBeUndefined();
  });
});

describe("a turn in another process", () => {
  const ref = { owner: "local", sessionKey: "k" };
  const at = (token: number): RunningTurn => ({
    deliveryIds: ["a", "b"],
    token,
    stop: new AbortController(),
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
