import { describe, expect, it } from "vitest";
import { createStopRegistry, type RunningTurn } from "./stop-registry.ts";

const running = (deliveryId = "d1"): RunningTurn => ({
  deliveryIds: [deliveryId],
  token: 1,
  stop: new AbortController(),
});

describe("the delivery that runs on a key", () => {
  it("is there from when it is registered until it ends", () => {
    const registry = createStopRegistry();
    const delivery = running();
    expect(registry.runningOn("key")).toBeUndefined();
    const end = registry.onKey("key", delivery);
    expect(registry.runningOn("key")).toBe(delivery);
    end();
    expect(registry.runningOn("key")).toBeUndefined();
  });

  it("is not that of another key", () => {
    const registry = createStopRegistry();
    registry.onKey("other", running());
    expect(registry.runningOn("key")).toBeUndefined();
  });

  it("is the one that was registered last", () => {
    const registry = createStopRegistry();
    registry.onKey("key", running("d1"));
    registry.onKey("key", running("d2"));
    expect(registry.runningOn("key")?.deliveryIds).toEqual(["d2"]);
  });

  it("stays when an earlier one ends late, however often it ends", () => {
    const registry = createStopRegistry();
    const endFirst = registry.onKey("key", running("d1"));
    const endSecond = registry.onKey("key", running("d2"));
    endFirst();
    endFirst();
    expect(registry.runningOn("key")?.deliveryIds).toEqual(["d2"]);
    endSecond();
    expect(registry.runningOn("key")).toBeUndefined();
  });

  it("is none under a name that every object has a property of", () => {
    expect(createStopRegistry().runningOn("constructor")).toBeUndefined();
  });
});

describe("the signal of a session", () => {
  it("is there from when the session runs until it ends", () => {
    const registry = createStopRegistry();
    const { signal } = new AbortController();
    expect(registry.signalFor("s1")).toBeUndefined();
    const end = registry.onSession("s1", signal);
    expect(registry.signalFor("s1")).toBe(signal);
    expect(registry.signalFor("s2")).toBeUndefined();
    end();
    expect(registry.signalFor("s1")).toBeUndefined();
  });

  it("is another thing than the delivery of a key of the same name", () => {
    const registry = createStopRegistry();
    registry.onSession("same", new AbortController().signal);
    expect(registry.runningOn("same")).toBeUndefined();
  });

  it("is aborted when the delivery is stopped under which the session runs", () => {
    const registry = createStopRegistry();
    const delivery = running();
    registry.onKey("key", delivery);
    registry.onSession("s1", delivery.stop.signal);
    registry.runningOn("key")?.stop.abort();
    expect(registry.signalFor("s1")?.aborted).toBe(true);
  });
});

describe("two registries", () => {
  it("know nothing of each other", () => {
    const [one, other] = [createStopRegistry(), createStopRegistry()];
    one.onKey("key", running());
    one.onSession("s1", new AbortController().signal);
    expect(other.runningOn("key")).toBeUndefined();
    expect(other.signalFor("s1")).toBeUndefined();
  });
});
