import { InMemoryStore } from "@langchain/langgraph-checkpoint";
import { expect, it } from "vitest";
import { createClientStore, type StoreCalls } from "./client-store.ts";

/** The store of a server as its client sees it: LangGraph's own, with everything as JSON. */
function serverCalls(): StoreCalls {
  const store = new InMemoryStore();
  const overHttp = (value: unknown) => (value === undefined ? null : JSON.parse(JSON.stringify(value)));
  return {
    getItem: async (namespace, key) => overHttp(await store.get(namespace, key)),
    putItem: async (namespace, key, value) => store.put(namespace, key, overHttp(value)),
    deleteItem: async (namespace, key) => store.delete(namespace, key),
    searchItems: async (prefix, options) => ({
      items: overHttp(await store.search(prefix, overHttp(options ?? {}))),
    }),
    listNamespaces: async (options) => ({
      namespaces: overHttp(await store.listNamespaces(overHttp(options ?? {}))),
    }),
  };
}

it("gives back an item with its dates as dates", async () => {
  const store = createClientStore(serverCalls());
  await store.put(["a", "b"], "k", { n: 1, list: ["x"] }, false);
  const item = await store.get(["a", "b"], "k");
  expect(item).toMatchObject({ namespace: ["a", "b"], key: "k", value: { n: 1, list: ["x"] } });
  expect(item?.createdAt).toBeInstanceOf(Date);
  expect(item?.updatedAt).toBeInstanceOf(Date);
});

it("has nothing where nothing was put, and nothing after a removal", async () => {
  const store = createClientStore(serverCalls());
  expect(await store.get(["a"], "k")).toBeNull();
  await store.put(["a"], "k", { n: 1 });
  await store.delete(["a"], "k");
  expect(await store.get(["a"], "k")).toBeNull();
  expect(await store.search(["a"])).toEqual([]);
});

it("searches page by page and with a filter", async () => {
  const store = createClientStore(serverCalls());
  for (const n of [1, 2, 3, 4]) await store.put(["page", String(n)], "k", { n, even: n % 2 === 0 });
  const pages = [
    await store.search(["page"], { limit: 3, offset: 0 }),
    await store.search(["page"], { limit: 3, offset: 3 }),
  ];
  expect(pages.map((page) => page.length)).toEqual([3, 1]);
  const even = await store.search(["page"], { filter: { even: true } });
  expect(even.map((item) => item.value["n"])).toEqual([2, 4]);
});

it("keeps the score of an item where the server ranks, and has none where it does not", async () => {
  const calls = serverCalls();
  const item = { namespace: ["a"], key: "k", value: {}, createdAt: "2026-03-01", updatedAt: "2026-03-01" };
  const ranked = createClientStore({
    ...calls,
    searchItems: async () => ({ items: [{ ...item, score: 0.5 }] }),
  });
  expect((await ranked.search(["a"]))[0]?.score).toBe(0.5);
  const unranked = createClientStore({ ...calls, searchItems: async () => ({ items: [item] }) });
  expect((await unranked.search(["a"]))[0]).not.toHaveProperty("score");
});

it("lists namespaces by prefix and depth", async () => {
  const store = createClientStore(serverCalls());
  for (const namespace of [["a", "one"], ["a", "two", "deep"], ["b"]]) await store.put(namespace, "k", {});
  expect(await store.listNamespaces({ prefix: ["a"], maxDepth: 2 })).toEqual([
    ["a", "one"],
    ["a", "two"],
  ]);
});

it("does the operations of a batch and answers in their order", async () => {
  const store = createClientStore(serverCalls());
  await store.batch([{ namespace: ["a"], key: "k", value: { n: 1 } }]);
  const [missing, found] = await store.batch([
    { namespace: ["a"], key: "no" },
    { namespace: ["a"], key: "k" },
  ]);
  expect([missing, found?.value]).toEqual([null, { n: 1 }]);
});
