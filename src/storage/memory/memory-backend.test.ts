import { describe, expect, it } from "vitest";
import { createManualClock } from "#src/kernel/clock.ts";
import { describeBackendContract } from "../contract.ts";
import { createMemoryBackend } from "./memory-backend.ts";

const START = Date.parse("2026-03-01T09:00:00.000Z");

describeBackendContract("memory", () => createMemoryBackend({ clock: createManualClock(START) }));

describe("the store in memory", () => {
  const namespace = ["n"];

  it("shares nothing with what was put or got", async () => {
    const { store } = createMemoryBackend({ clock: createManualClock(START) });
    const value = { list: [1] };
    await store.put(namespace, "k", value);
    value.list.push(2);
    for (const got of await store.search(namespace)) {
      (got.value["list"] as number[]).push(3);
      got.namespace.push("deeper");
    }
    expect(await store.get(namespace, "k")).toMatchObject({ namespace, value: { list: [1] } });
  });

  it("dates items by the clock it was given", async () => {
    const clock = createManualClock(START);
    const { store } = createMemoryBackend({ clock });
    await store.put(namespace, "k", { n: 1 });
    clock.advance(60_000);
    await store.put(namespace, "k", { n: 2 });
    const item = await store.get(namespace, "k");
    expect(item?.createdAt).toEqual(new Date(START));
    expect(item?.updatedAt).toEqual(new Date(START + 60_000));
    expect((await store.search(namespace))[0]?.updatedAt).toEqual(new Date(START + 60_000));
  });

  it("refuses a whole batch when one value is not JSON", async () => {
    const { store } = createMemoryBackend({ clock: createManualClock(START) });
    const batch = store.batch([
      { namespace, key: "good", value: { n: 1 } },
      { namespace, key: "bad", value: { at: new Date(0) } },
    ]);
    await expect(batch).rejects.toMatchObject({ code: "value_not_json" });
    expect(await store.search(namespace)).toEqual([]);
  });

  it("keeps items apart whose namespace and key read the same when joined", async () => {
    const { store } = createMemoryBackend({ clock: createManualClock(START) });
    await store.batch([
      { namespace: ["a"], key: "b:c", value: { n: 1 } },
      { namespace: ["a", "b"], key: "c", value: { n: 2 } },
    ]);
    expect((await store.get(["a"], "b:c"))?.value).toEqual({ n: 1 });
    expect((await store.get(["a", "b"], "c"))?.value).toEqual({ n: 2 });
  });

  it("reads the state before the writes of the same batch", async () => {
    const { store } = createMemoryBackend({ clock: createManualClock(START) });
    await store.put(namespace, "k", { n: 1 });
    const [, before] = await store.batch([
      { namespace, key: "k", value: { n: 2 } },
      { namespace, key: "k" },
    ]);
    expect(before?.value).toEqual({ n: 1 });
    expect((await store.get(namespace, "k"))?.value).toEqual({ n: 2 });
  });

  it("keeps two backends apart", async () => {
    const one = createMemoryBackend({ clock: createManualClock(START) });
    const other = createMemoryBackend({ clock: createManualClock(START) });
    await one.store.put(namespace, "k", { n: 1 });
    expect(await other.store.get(namespace, "k")).toBeNull();
  });
});
