import { AsyncBatchedStore, InMemoryStore, type Operation } from "@langchain/langgraph-checkpoint";
import { expect, it } from "vitest";
import { gatherReads } from "./gather-reads.ts";

function countingStore() {
  const store = new InMemoryStore();
  const batches: number[] = [];
  const batch = store.batch.bind(store);
  store.batch = async <Op extends readonly Operation[]>(operations: Op) => {
    batches.push(operations.length);
    return batch(operations);
  };
  return { store, batches };
}

it("asks once for what is asked in one go, also behind promises that are settled", async () => {
  const { store, batches } = countingStore();
  await store.put(["a"], "k", { n: 1 });
  batches.length = 0;
  const gathered = gatherReads(store);
  const late = async () => {
    await Promise.resolve();
    await Promise.resolve();
    return gathered.search(["a"], { filter: { n: 1 } });
  };
  const [item, none, found] = await Promise.all([gathered.get(["a"], "k"), gathered.search(["b"]), late()]);
  expect(item?.value).toEqual({ n: 1 });
  expect(none).toEqual([]);
  expect(found.map(({ key }) => key)).toEqual(["k"]);
  expect(batches).toEqual([3]);
});

it("sees what was written before it asked", async () => {
  const { store } = countingStore();
  const gathered = gatherReads(store);
  await gathered.put(["a"], "k", { n: 1 });
  expect((await gathered.get(["a"], "k"))?.value).toEqual({ n: 1 });
  await gathered.delete(["a"], "k");
  expect(await gathered.get(["a"], "k")).toBeNull();
});

it("tells everybody who waits of a failure, and goes on afterwards", async () => {
  const { store } = countingStore();
  const gathered = gatherReads(store);
  const batch = store.batch;
  store.batch = () => Promise.reject(new Error("the disk is gone"));
  const failures = await Promise.allSettled([gathered.get(["a"], "k"), gathered.search(["a"])]);
  expect(failures.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  store.batch = batch;
  expect(await gathered.search(["a"])).toEqual([]);
});

it("leaves a store that gathers by itself as it is", () => {
  const batched = new AsyncBatchedStore(new InMemoryStore());
  expect(gatherReads(batched)).toBe(batched);
});
