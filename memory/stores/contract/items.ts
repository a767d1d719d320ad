/** Contract: one item, its times, and batches. */
import { describe, expect, it } from "vitest";
import type { BaseStore, Operation } from "@langchain/langgraph-checkpoint";
import { keysOf, withStore, type MakeStore } from "./with-store.ts";

const DOCS = ["docs", "ada"];

// Built in a function so that each use is a fresh object.
const awkwardValue = () => ({
  nul: "abc\u0000def",
  text: '👩‍👩‍👧 می‌خواهم naïve \u2028 "quoted" \\ \'',
  list: [1, "two", null, { three: 3.25e-7 }],
  deep: { a: { b: [{ c: true }] } },
  "key.with \"odd'": -1e21,
});

export function describeItems(makeStore: MakeStore): void {
  describe("items", () => {
    it(
      "gives back what was put, with its namespace, key and times",
      withStore(makeStore, async (store) => {
        await store.put(DOCS, "k", awkwardValue());
        const item = await store.get(DOCS, "k");
        expect(item).toMatchObject({ namespace: DOCS, key: "k" });
        expect(item?.value).toEqual(awkwardValue());
        expect(item?.createdAt).toBeInstanceOf(Date);
        expect(item?.updatedAt).toEqual(item?.createdAt);
      }),
    );

    it(
      "gives null for an item that is absent or deleted",
      withStore(makeStore, async (store) => {
        expect(await store.get(DOCS, "k")).toBeNull();
        await store.put(DOCS, "k", { n: 1 });
        await store.delete(DOCS, "k");
        expect(await store.get(DOCS, "k")).toBeNull();
        await expect(store.delete(DOCS, "k")).resolves.toBeUndefined();
      }),
    );

    it(
      "keeps createdAt when an item is put again and moves updatedAt",
      withStore(makeStore, async (store, { tick }) => {
        await store.put(DOCS, "k", { n: 1 });
        const first = await createdAndUpdated(store);
        await tick();
        await store.put(DOCS, "k", { n: 2 });
        const second = await createdAndUpdated(store);
        expect(second.createdAt).toBe(first.createdAt);
        expect(second.updatedAt).toBeGreaterThan(first.updatedAt);
      }),
    );

    it(
      "keeps keys apart by case, Unicode form and white space",
      withStore(makeStore, async (store) => {
        const keys = ["k", "K", " k", "k ", "", "é", "e\u0301", "%", "_", "k%"];
        for (const key of keys) await store.put(DOCS, key, { key });
        for (const key of keys) expect((await store.get(DOCS, key))?.value).toEqual({ key });
        expect(keysOf(await store.search(DOCS, { limit: 100 }))).toEqual(keys);
      }),
    );

    describeCopies(makeStore);
    describeBatches(makeStore);
  });
}

async function createdAndUpdated(store: BaseStore): Promise<{ createdAt: number; updatedAt: number }> {
  const item = await store.get(DOCS, "k");
  return { createdAt: Number(item?.createdAt), updatedAt: Number(item?.updatedAt) };
}

function describeCopies(makeStore: MakeStore): void {
  it(
    "is not changed by later changes to what went in or came out",
    withStore(makeStore, async (store) => {
      const value = { list: ["a"] };
      await store.put(DOCS, "k", value);
      value.list.push("changed after put");
      for (const item of await store.search(DOCS))
        (item.value["list"] as string[]).push("changed after search");
      expect((await store.get(DOCS, "k"))?.value["list"]).toEqual(["a"]);
    }),
  );

  const notJson: [string, Record<string, unknown>][] = [
    ["a date", { d: new Date(0) }],
    ["NaN", { x: Number.NaN }],
    ["a map", { m: new Map() }],
    ["-0", { z: -0 }],
    ["bytes", { b: new Uint8Array(1) }],
    ["half of a surrogate pair", { s: "caf\ud83d" }],
    ["undefined in an array", { a: [undefined] }],
    ["a nested function", { f: { g: () => 1 } }],
  ];
  it.each(notJson)("refuses %s and writes nothing", async (_what, value) => {
    await withStore(makeStore, async (store) => {
      await expect(store.put(DOCS, "k", value)).rejects.toMatchObject({ code: "value_not_json" });
      expect(await store.get(DOCS, "k")).toBeNull();
    })();
  });

  it(
    "refuses an array or text as the whole value, and takes a member that is undefined for absent",
    withStore(makeStore, async (store) => {
      const put = (value: unknown) =>
        store.batch([{ namespace: DOCS, key: "k", value: value as Record<string, unknown> }]);
      await expect(put(["a"])).rejects.toMatchObject({ code: "value_not_json" });
      await expect(put("a")).rejects.toMatchObject({ code: "value_not_json" });
      await put({ a: 1, b: undefined });
      expect((await store.get(DOCS, "k"))?.value).toStrictEqual({ a: 1 });
    }),
  );
}

function describeBatches(makeStore: MakeStore): void {
  it(
    "reads the state before the writes of the same batch and aligns results with operations",
    withStore(makeStore, async (store) => {
      await store.put(DOCS, "a", { n: 1 });
      const results: unknown[] = await store.batch([
        { namespace: DOCS, key: "a", value: { n: 2 } },
        { namespace: DOCS, key: "a" },
        { namespacePrefix: ["docs"] },
        { namespace: ["other"], key: "b", value: { n: 3 } },
        { matchConditions: [], limit: 10, offset: 0 },
        { namespace: DOCS, key: "a", value: null },
        { namespace: ["other"], key: "b" },
      ]);
      expect(results).toHaveLength(7);
      expect(results[0] ?? null).toBeNull();
      expect(results[1]).toMatchObject({ value: { n: 1 } });
      expect(results[2]).toMatchObject([{ key: "a" }]);
      expect(results[4]).toEqual([DOCS]);
      expect(results[6]).toBeNull();
      expect(await store.get(DOCS, "a")).toBeNull();
      expect((await store.get(["other"], "b"))?.value).toEqual({ n: 3 });
    }),
  );

  it(
    "lets the last change to an item win, at the place of the first",
    withStore(makeStore, async (store) => {
      await store.batch([
        { namespace: DOCS, key: "a", value: { n: 1 } },
        { namespace: DOCS, key: "b", value: { n: 1 } },
        { namespace: DOCS, key: "a", value: { n: 2 } },
        { namespace: DOCS, key: "gone", value: { n: 1 } },
        { namespace: DOCS, key: "gone", value: null },
      ]);
      const items = await store.search(DOCS);
      expect(items.map(({ key, value }) => [key, value["n"]])).toEqual([
        ["a", 2],
        ["b", 1],
      ]);
    }),
  );

  it(
    "writes nothing of a batch of which one operation is refused",
    withStore(makeStore, async (store) => {
      const operations: Operation[] = [
        { namespace: DOCS, key: "a", value: { n: 1 } },
        { namespace: ["bad.label"], key: "b", value: { n: 1 } },
      ];
      await expect(store.batch(operations)).rejects.toThrow();
      expect(await store.get(DOCS, "a")).toBeNull();
    }),
  );
}
