/** Contract: listing namespaces. */
import { describe, expect, it } from "vitest";
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { withStore, type MakeStore } from "./with-store.ts";

const NAMESPACES = [
  ["facts", "ada", "home"],
  ["facts", "ada", "work"],
  ["facts", "ada10", "home"],
  ["facts", "ben", "home", "deep"],
  ["rules", "ada", "home"],
  ["rules"],
];

async function fill(store: BaseStore): Promise<void> {
  for (const namespace of NAMESPACES.toReversed()) await store.put(namespace, "k", {});
}

export function describeNamespaces(makeStore: MakeStore): void {
  describe("namespaces", () => {
    it(
      "are listed once each and in order",
      withStore(makeStore, async (store) => {
        await fill(store);
        await store.put(["rules"], "another", {});
        const sorted = NAMESPACES.toSorted((a, b) => (a.join(".") < b.join(".") ? -1 : 1));
        expect(await store.listNamespaces()).toEqual(sorted);
      }),
    );

    it(
      "are selected by prefix and suffix of whole labels, with * for any one label",
      withStore(makeStore, async (store) => {
        await fill(store);
        const list = (options: { prefix?: string[]; suffix?: string[] }) => store.listNamespaces(options);
        expect(await list({ prefix: ["facts", "ada"] })).toEqual([NAMESPACES[0], NAMESPACES[1]]);
        expect(await list({ prefix: ["fact"] })).toEqual([]);
        expect(await list({ prefix: ["*", "ada"] })).toEqual([NAMESPACES[0], NAMESPACES[1], NAMESPACES[4]]);
        expect(await list({ suffix: ["home"] })).toEqual([NAMESPACES[0], NAMESPACES[2], NAMESPACES[4]]);
        expect(await list({ prefix: ["facts"], suffix: ["ada", "*"] })).toEqual([
          NAMESPACES[0],
          NAMESPACES[1],
        ]);
        expect(await list({ prefix: ["rules", "*", "*"] })).toEqual([NAMESPACES[4]]);
        expect(await list({ prefix: ["facts", "ada", "home", "x"] })).toEqual([]);
      }),
    );

    it(
      "are cut to a depth and paged after that",
      withStore(makeStore, async (store) => {
        await fill(store);
        expect(await store.listNamespaces({ maxDepth: 1 })).toEqual([["facts"], ["rules"]]);
        const second = [["facts", "ada"], ["facts", "ada10"], ["facts", "ben"], ["rules"], ["rules", "ada"]];
        expect(await store.listNamespaces({ maxDepth: 2 })).toEqual(second);
        expect(await store.listNamespaces({ maxDepth: 2, limit: 2, offset: 1 })).toEqual(second.slice(1, 3));
        expect(await store.listNamespaces({ limit: 0 })).toEqual([]);
        expect(await store.listNamespaces({ offset: 6 })).toEqual([]);
        expect(await store.listNamespaces({ limit: 1 })).toEqual([NAMESPACES[0]]);
      }),
    );

    it(
      "end with their last item",
      withStore(makeStore, async (store) => {
        await store.put(["n"], "a", {});
        await store.put(["n"], "b", {});
        await store.delete(["n"], "a");
        expect(await store.listNamespaces()).toEqual([["n"]]);
        await store.delete(["n"], "b");
        expect(await store.listNamespaces()).toEqual([]);
      }),
    );
  });
}
