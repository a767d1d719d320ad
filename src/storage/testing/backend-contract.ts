/** What every storage backend has to do, as tests that each backend runs. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { StorageBackend } from "../backend.ts";
import { checkpointSourcesOf, countingGraph } from "./counting-graph.ts";

/** Makes an empty backend. The suite closes it. */
export type MakeBackend = () => StorageBackend | Promise<StorageBackend>;

/** Longest time in milliseconds that "at once" may take on a busy machine. */
const AT_ONCE_MS = 1_000;

/** Describes the contract of {@link StorageBackend} for the backends that `make` makes. */
export function describeBackendContract(name: string, make: MakeBackend): void {
  describe(`storage backend ${name}`, () => {
    let backend: StorageBackend;
    beforeEach(async () => {
      backend = await make();
    });
    afterEach(() => backend.close());
    const current = (): StorageBackend => backend;

    it("says what it is and where", () => {
      expect(backend.name).not.toBe("");
      expect(backend.location).not.toBe("");
    });

    it("closes twice without complaint", async () => {
      await backend.close();
      await backend.close();
    });

    describeExclusion(current);
    describeWaiting(current);
    describeHolder(current);
    describeFencing(current);
    describeCheckpoints(current);
  });
}

function describeExclusion(backend: () => StorageBackend): void {
  it("lets one holder in at a time", async () => {
    let inside = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      const lease = await backend().locks.acquire("k");
      inside += 1;
      most = Math.max(most, inside);
      await Promise.resolve();
      inside -= 1;
      await lease.release();
    };
    await Promise.all(Array.from({ length: 20 }, work));
    expect(most).toBe(1);
  });

  it("serves the waiters of one process in the order in which they asked", async () => {
    const order: number[] = [];
    const first = await backend().locks.acquire("k");
    const waiters = Array.from({ length: 5 }, async (_unused, index) => {
      const lease = await backend().locks.acquire("k");
      order.push(index);
      await lease.release();
    });
    await first.release();
    await Promise.all(waiters);
    expect(order).toEqual([0, 1, 2, 3, 4]);
  });

  it("does not make different names wait for each other", async () => {
    const names = ["a", "b", "a:b", "", "ключ", "a%", "A"];
    const leases = await Promise.all(
      names.map((lockName) => backend().locks.acquire(lockName, { waitMs: AT_ONCE_MS })),
    );
    expect(leases.map((lease) => lease.lockName)).toEqual(names);
    await Promise.all(leases.map((lease) => lease.release()));
  });

  it("grants tokens that grow, for each name by itself", async () => {
    const tokens: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const lease = await backend().locks.acquire("k");
      tokens.push(lease.token);
      await lease.release();
    }
    expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => a - b));
    expect(tokens).toHaveLength(3);
  });

  it("takes a second release for the first one, and not for that of the next holder", async () => {
    const first = await backend().locks.acquire("k");
    await first.release();
    const second = await backend().locks.acquire("k");
    await first.release();
    await expect(backend().locks.acquire("k", { waitMs: 30 })).rejects.toMatchObject({
      code: "lease_timeout",
    });
    await second.release();
    expect(second.lost.aborted).toBe(false);
  });
}

function describeWaiting(backend: () => StorageBackend): void {
  it("gives up with lease_timeout when the longest wait is over", async () => {
    const held = await backend().locks.acquire("k");
    await expect(backend().locks.acquire("k", { waitMs: 20 })).rejects.toMatchObject({
      code: "lease_timeout",
    });
    await held.release();
  });

  it("gives up with the signal's reason when it is aborted while it waits", async () => {
    const held = await backend().locks.acquire("k");
    const controller = new AbortController();
    const waiting = backend().locks.acquire("k", { signal: controller.signal });
    controller.abort(new Error("changed my mind"));
    await expect(waiting).rejects.toThrow("changed my mind");
    await held.release();
  });

  it("does not even try when the signal is aborted before", async () => {
    const signal = AbortSignal.abort(new Error("too late"));
    await expect(backend().locks.acquire("k", { signal })).rejects.toThrow("too late");
  });

  it("lets the next one in when a waiter before it gave up", async () => {
    const held = await backend().locks.acquire("k");
    const controller = new AbortController();
    const quitter = backend().locks.acquire("k", { signal: controller.signal });
    const next = backend().locks.acquire("k");
    controller.abort(new Error("gone"));
    await expect(quitter).rejects.toThrow("gone");
    await held.release();
    await (await next).release();
  });

  it("tells once that it waits, and not when it does not", async () => {
    let calls = 0;
    const onWait = (): void => void (calls += 1);
    const held = await backend().locks.acquire("k", { onWait });
    expect(calls).toBe(0);
    const waiting = backend().locks.acquire("k", { onWait });
    await expect(backend().locks.acquire("k", { waitMs: 150 })).rejects.toThrow();
    await held.release();
    await (await waiting).release();
    expect(calls).toBe(1);
  });
}

function describeHolder(backend: () => StorageBackend): void {
  it("names the lease that is held, and nobody before the first one and after it was given back", async () => {
    const { locks } = backend();
    expect(await locks.holder("k")).toBeUndefined();
    const first = await locks.acquire("k");
    expect(await locks.holder("k")).toEqual({ lockName: "k", token: first.token });
    await first.release();
    expect(await locks.holder("k")).toBeUndefined();
    const second = await locks.acquire("k");
    await first.release();
    expect(await locks.holder("k")).toEqual({ lockName: "k", token: second.token });
    expect(await locks.holder("other")).toBeUndefined();
    await second.release();
  });

  it("names the next holder once it was let in, not one that waits", async () => {
    const { locks } = backend();
    const first = await locks.acquire("k");
    const waiting = locks.acquire("k");
    expect(await locks.holder("k")).toMatchObject({ token: first.token });
    await first.release();
    const second = await waiting;
    expect(await locks.holder("k")).toMatchObject({ token: second.token });
    await second.release();
  });

  it("is forgotten by the prefix of its name unless it is held, and no token is granted twice", async () => {
    const { locks, erasure } = backend();
    const grant = async (name: string): Promise<number> => {
      const lease = await locks.acquire(name);
      await lease.release();
      return lease.token;
    };
    for (let round = 1; round <= 3; round += 1) expect(await grant("turn/ada/a")).toBe(round);
    await grant("turn/ad/a");
    await grant("turn/ada2/a");
    const held = await locks.acquire("turn/ada/b");
    expect(await erasure?.forgetLocks("turn/ada/")).toBe(1);
    expect(await erasure?.forgetLocks("turn/ada/")).toBe(0);
    expect(await locks.holder("turn/ada/b")).toEqual({ lockName: "turn/ada/b", token: held.token });
    const tokens = [await grant("turn/ada/a"), await grant("turn/ad/a"), await grant("turn/ada2/a")];
    expect(tokens).toEqual([4, 2, 2]);
    await held.release();
  });
}

function describeFencing(backend: () => StorageBackend): void {
  const namespace = ["fence"];

  it("writes under the newest lease", async () => {
    const lease = await backend().locks.acquire("k");
    const store = backend().fencedStore(lease);
    await store.put(namespace, "item", { by: lease.token });
    expect((await backend().store.get(namespace, "item"))?.value).toEqual({ by: lease.token });
    await store.delete(namespace, "item");
    expect((await backend().store.get(namespace, "item")) ?? undefined).toBeUndefined();
    await lease.release();
  });

  it("refuses every kind of write under an old lease after a newer grant, and changes nothing", async () => {
    const old = await backend().locks.acquire("k");
    const store = backend().fencedStore(old);
    await store.put(namespace, "item", { by: "old" });
    await old.release();
    const newer = await backend().locks.acquire("k");

    const lost = { code: "lease_lost" };
    await expect(store.put(namespace, "item", { by: "late" })).rejects.toMatchObject(lost);
    await expect(store.delete(namespace, "item")).rejects.toMatchObject(lost);
    const batch = [
      { namespace, key: "item" },
      { namespace, key: "second", value: { by: "late" } },
    ];
    await expect(store.batch(batch)).rejects.toMatchObject(lost);

    expect((await backend().store.search(namespace)).map((item) => item.value)).toEqual([{ by: "old" }]);
    await newer.release();
  });

  it("refuses writes under a lease that was never granted", async () => {
    const store = backend().fencedStore({ lockName: "never", token: 1 });
    await expect(store.put(namespace, "item", {})).rejects.toMatchObject({ code: "lease_lost" });
  });

  it("does not fence reads", async () => {
    const old = await backend().locks.acquire("k");
    await backend().store.put(namespace, "item", { n: 1 });
    await old.release();
    const newer = await backend().locks.acquire("k");
    const store = backend().fencedStore(old);
    expect((await store.get(namespace, "item"))?.value).toEqual({ n: 1 });
    expect(await store.search(namespace)).toHaveLength(1);
    expect(await store.listNamespaces({ prefix: namespace })).toEqual([namespace]);
    await newer.release();
  });

  it("does not let the lease of one key fence another", async () => {
    const a = await backend().locks.acquire("a");
    const b = await backend().locks.acquire("b");
    await backend().fencedStore(a).put(namespace, "a", {});
    await backend().fencedStore(b).put(namespace, "b", {});
    expect(await backend().store.search(namespace)).toHaveLength(2);
    await Promise.all([a.release(), b.release()]);
  });
}

function describeCheckpoints(backend: () => StorageBackend): void {
  it("brings a graph's state back", async () => {
    await countingGraph(backend().checkpointer).run("t", 5);
    const again = countingGraph(backend().checkpointer);
    expect(await again.stateOf("t")).toEqual({ total: 6 });
    expect(await again.run("t", 10)).toEqual({ total: 17 });
    expect(await again.stateOf("other")).toEqual({});
  });

  it("forgets a thread and no other", async () => {
    const graph = countingGraph(backend().checkpointer);
    await graph.run("t1", 1);
    await graph.run("t10", 1);
    await backend().checkpointer.deleteThread("t1");
    expect(await graph.stateOf("t1")).toEqual({});
    expect(await graph.stateOf("t10")).toEqual({ total: 2 });
  });

  it("keeps the newest checkpoints, and the thread goes on", async () => {
    const graph = countingGraph(backend().checkpointer);
    for (let run = 0; run < 6; run += 1) await graph.run("t", 1);
    const before = await checkpointSourcesOf(backend().checkpointer, "t");
    await backend().checkpointer.retain("t", 2);
    expect(await checkpointSourcesOf(backend().checkpointer, "t")).toEqual(before.slice(0, 2));
    expect(await graph.stateOf("t")).toEqual({ total: 12 });
    expect(await graph.run("t", 1)).toEqual({ total: 14 });
  });

  it("deletes nothing of a thread with fewer checkpoints than are kept, nor of one that is unknown", async () => {
    const graph = countingGraph(backend().checkpointer);
    await graph.run("t", 1);
    const before = await checkpointSourcesOf(backend().checkpointer, "t");
    await backend().checkpointer.retain("t", before.length + 1);
    await backend().checkpointer.retain("unknown", 1);
    expect(await checkpointSourcesOf(backend().checkpointer, "t")).toEqual(before);
  });
}
