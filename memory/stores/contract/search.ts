/** Contract: search without a query: whole labels, order, pages. */
import { describe, expect, it } from "vitest";
import { keysOf, withStore, type MakeStore } from "./with-store.ts";

/** What LangGraph says, or one of ours. */
const REFUSAL = /namespace|label|the key/iu;

export function describeSearch(makeStore: MakeStore): void {
  describe("search without a query", () => {
    it(
      "matches whole labels, case-sensitively and without wildcards",
      withStore(makeStore, async (store) => {
        const users = [
          "user1",
          "user10",
          "User1",
          "user_",
          "user%",
          "amy-lee",
          "amy_lee",
          "amy%",
          "a/b",
          " ",
          "user1 ",
        ];
        for (const user of users) await store.put(["memory", user], "k", { user });
        for (const user of users) {
          const items = await store.search(["memory", user]);
          expect(items.map((item) => item.value)).toEqual([{ user }]);
        }
        expect(await store.search(["mem"])).toEqual([]);
        expect(await store.search(["memory", "user"])).toEqual([]);
      }),
    );

    it(
      "finds items at and below the prefix, and everything for the empty prefix",
      withStore(makeStore, async (store) => {
        await store.put(["a"], "top", {});
        await store.put(["a", "b"], "middle", {});
        await store.put(["a", "b", "c"], "bottom", {});
        await store.put(["z"], "other", {});
        expect(keysOf(await store.search(["a"]))).toEqual(["top", "middle", "bottom"]);
        expect(keysOf(await store.search(["a", "b"]))).toEqual(["middle", "bottom"]);
        expect(keysOf(await store.search(["a", "b", "c", "d"]))).toEqual([]);
        expect(keysOf(await store.search([]))).toEqual(["top", "middle", "bottom", "other"]);
      }),
    );

    it(
      "keeps the order in which namespaces, and in them items, were first put",
      withStore(makeStore, async (store) => {
        await store.put(["n", "second"], "b", {});
        await store.put(["n", "first"], "z", {});
        await store.put(["n", "second"], "a", {});
        await store.put(["n", "first"], "y", {});
        await store.put(["n", "second"], "b", { again: true });
        expect(keysOf(await store.search(["n"]))).toEqual(["b", "a", "z", "y"]);
        await store.delete(["n", "second"], "b");
        await store.put(["n", "second"], "b", {});
        expect(keysOf(await store.search(["n", "second"]))).toEqual(["a", "b"]);
      }),
    );

    it(
      "gives 10 items unless told otherwise, and pages that meet without gap or overlap",
      withStore(makeStore, async (store) => {
        const keys = Array.from({ length: 25 }, (_, index) => `k${index}`);
        for (const key of keys) await store.put(["pages"], key, {});
        expect(keysOf(await store.search(["pages"]))).toEqual(keys.slice(0, 10));
        expect(keysOf(await store.search(["pages"], { limit: 0 }))).toEqual([]);
        expect(keysOf(await store.search(["pages"], { limit: 7, offset: 20 }))).toEqual(keys.slice(20));
        expect(keysOf(await store.search(["pages"], { limit: 7, offset: 25 }))).toEqual([]);
        expect(keysOf(await store.search(["pages"], { limit: 1000 }))).toEqual(keys);
      }),
    );

    describeRefusals(makeStore);
  });
}

function describeRefusals(makeStore: MakeStore): void {
  it.each([[[""]], [["a", ""]], [["a.b"]], [["a:b"]], [["a", 1 as unknown as string]]])(
    "refuses the namespace %j everywhere",
    async (namespace) => {
      await withStore(makeStore, async (store) => {
        await expect(store.put(namespace, "k", {})).rejects.toThrow(REFUSAL);
        await expect(store.get(namespace, "k")).rejects.toThrow(REFUSAL);
        await expect(store.delete(namespace, "k")).rejects.toThrow(REFUSAL);
        await expect(store.search(namespace)).rejects.toThrow(REFUSAL);
      })();
    },
  );

  it(
    "refuses the empty namespace for an item, and the root label langgraph for put",
    withStore(makeStore, async (store) => {
      await expect(store.put([], "k", {})).rejects.toThrow(REFUSAL);
      await expect(store.get([], "k")).rejects.toThrow(REFUSAL);
      await expect(store.put(["langgraph", "x"], "k", {})).rejects.toThrow(REFUSAL);
      expect(await store.get(["langgraph", "x"], "k")).toBeNull();
    }),
  );

  it(
    "refuses NUL and half of a surrogate pair in labels and keys",
    withStore(makeStore, async (store) => {
      for (const bad of ["a\u0000b", "caf\ud83d"]) {
        await expect(store.put([bad], "k", {})).rejects.toThrow(REFUSAL);
        await expect(store.put(["n"], bad, {})).rejects.toThrow(REFUSAL);
        await expect(store.get(["n"], bad)).rejects.toThrow(REFUSAL);
      }
    }),
  );
}
