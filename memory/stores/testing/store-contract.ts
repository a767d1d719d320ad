/** The contract of a LangGraph store: what every one we use has to do, run by the tests of each. */
import type { BaseStore, Operation } from "@langchain/langgraph-checkpoint";
import { describe, expect, it, onTestFinished } from "vitest";
import { describeParity } from "./parity.ts";

/** A fresh, empty store. */
export interface StoreFixture {
  readonly store: BaseStore;
  /** Lets at least a millisecond pass on the store's clock. */
  tick?(): void;
  close?(): void;
}

/** Opens a fresh store, which is closed when the test is over. */
type Open = () => BaseStore;

/** Keys of items, in their order. */
export function keysOf(items: readonly { readonly key: string }[]): string[] {
  return items.map((item) => item.key);
}

/** Runs the contract against fresh stores of `makeStore`, and `runs` sequences of batches against LangGraph's own. */
export function describeStoreContract(name: string, makeStore: () => StoreFixture, runs = 40): void {
  const open = (): BaseStore => {
    const { store, close } = makeStore();
    onTestFinished(() => close?.());
    return store;
  };
  describe(`store contract: ${name}`, () => {
    describeItems(open);
    describeTimes(makeStore);
    describeBatches(open);
    describeSearch(open);
    describeRefusals(open);
    describeFilters(open);
    describeTextSearch(open);
    describeNamespaces(open);
    describeParity(makeStore, runs);
  });
}

const DOCS = ["docs", "ada"];

// Built in a function so that each use is a fresh object.
const awkwardValue = () => ({
  nul: "abc\u0000def",
  text: '👩‍👩‍👧 می‌خواهم naïve \u2028 "quoted" \\ \'',
  list: [1, "two", null, { three: 3.25e-7 }],
  deep: { a: { b: [{ c: true }] } },
  "key.with \"odd'": -1e21,
});

function describeItems(open: Open): void {
  it("gives back what was put, with its namespace, key and times", async () => {
    const store = open();
    await store.put(DOCS, "k", awkwardValue());
    const item = await store.get(DOCS, "k");
    expect(item).toMatchObject({ namespace: DOCS, key: "k" });
    expect(item?.value).toEqual(awkwardValue());
    expect(item?.createdAt).toBeInstanceOf(Date);
    expect(item?.updatedAt).toEqual(item?.createdAt);
  });

  it("gives null for an item that is absent or deleted", async () => {
    const store = open();
    expect(await store.get(DOCS, "k")).toBeNull();
    await store.put(DOCS, "k", { n: 1 });
    await store.delete(DOCS, "k");
    expect(await store.get(DOCS, "k")).toBeNull();
    await expect(store.delete(DOCS, "k")).resolves.toBeUndefined();
  });

  it("keeps keys apart by case, Unicode form and white space", async () => {
    const store = open();
    const keys = ["k", "K", " k", "k ", "", "é", "e\u0301", "%", "_", "k%"];
    for (const key of keys) await store.put(DOCS, key, { key });
    for (const key of keys) expect((await store.get(DOCS, key))?.value).toEqual({ key });
    expect(keysOf(await store.search(DOCS, { limit: 100 }))).toEqual(keys);
  });

  it("is not changed by later changes to what went in or came out", async () => {
    const store = open();
    const value = { list: ["a"] };
    await store.put(DOCS, "k", value);
    value.list.push("changed after put");
    for (const item of await store.search(DOCS))
      (item.value["list"] as string[]).push("changed after search");
    expect((await store.get(DOCS, "k"))?.value["list"]).toEqual(["a"]);
  });

  it("refuses what JSON cannot carry and writes nothing", async () => {
    const store = open();
    const notJson: Record<string, unknown> = {
      "a date": { d: new Date(0) },
      "a map": { m: new Map() },
      "half of a surrogate pair": { s: "caf\ud83d" },
      "undefined in an array": { a: [undefined] },
      "an array as the whole": ["a"],
      "text as the whole": "a",
    };
    const accepted: string[] = [];
    for (const [what, value] of Object.entries(notJson)) {
      const put = store.batch([{ namespace: DOCS, key: "k", value: value as Record<string, unknown> }]);
      const code: unknown = await put.catch((error: { code?: unknown }) => error.code);
      if (code !== "value_not_json") accepted.push(what);
    }
    expect(accepted).toEqual([]);
    expect(await store.get(DOCS, "k")).toBeNull();
  });

  it("takes a member that is undefined for absent", async () => {
    const store = open();
    await store.put(DOCS, "k", { a: 1, b: undefined });
    expect((await store.get(DOCS, "k"))?.value).toStrictEqual({ a: 1 });
  });
}

function describeTimes(makeStore: () => StoreFixture): void {
  it("keeps createdAt when an item is put again and moves updatedAt", async () => {
    const { store, tick, close } = makeStore();
    onTestFinished(() => close?.());
    await store.put(DOCS, "k", { n: 1 });
    const first = await store.get(DOCS, "k");
    tick?.();
    await store.put(DOCS, "k", { n: 2 });
    const second = await store.get(DOCS, "k");
    expect(second?.createdAt).toEqual(first?.createdAt);
    expect(Number(second?.updatedAt)).toBeGreaterThan(Number(first?.updatedAt));
  });
}

function describeBatches(open: Open): void {
  it("reads the state before the writes of a batch, and aligns results with operations", async () => {
    const store = open();
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
  });

  it("lets the last change to an item in a batch win, at the place of the first", async () => {
    const store = open();
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
  });

  it("writes nothing of a batch of which one operation is refused", async () => {
    const store = open();
    const operations: Operation[] = [
      { namespace: DOCS, key: "a", value: { n: 1 } },
      { namespace: ["bad.label"], key: "b", value: { n: 1 } },
    ];
    await expect(store.batch(operations)).rejects.toThrow();
    expect(await store.get(DOCS, "a")).toBeNull();
  });
}

function describeSearch(open: Open): void {
  it("matches whole labels, case-sensitively and without wildcards", async () => {
    const store = open();
    const users = ["user1", "user10", "User1", "user_", "user%", "amy-lee", "amy_lee", "a/b", " ", "user1 "];
    for (const user of users) await store.put(["memory", user], "k", { user });
    for (const user of users) {
      const items = await store.search(["memory", user]);
      expect(items.map((item) => item.value)).toEqual([{ user }]);
    }
    expect(await store.search(["mem"])).toEqual([]);
    expect(await store.search(["memory", "user"])).toEqual([]);
  });

  it("finds items at and below the prefix, and everything for the empty prefix", async () => {
    const store = open();
    await store.put(["a"], "top", {});
    await store.put(["a", "b"], "middle", {});
    await store.put(["a", "b", "c"], "bottom", {});
    await store.put(["z"], "other", {});
    expect(keysOf(await store.search(["a"]))).toEqual(["top", "middle", "bottom"]);
    expect(keysOf(await store.search(["a", "b"]))).toEqual(["middle", "bottom"]);
    expect(keysOf(await store.search(["a", "b", "c", "d"]))).toEqual([]);
    expect(keysOf(await store.search([]))).toEqual(["top", "middle", "bottom", "other"]);
  });

  it("keeps the order in which namespaces, and in them items, were first put", async () => {
    const store = open();
    await store.put(["n", "second"], "b", {});
    await store.put(["n", "first"], "z", {});
    await store.put(["n", "second"], "a", {});
    await store.put(["n", "first"], "y", {});
    await store.put(["n", "second"], "b", { again: true });
    expect(keysOf(await store.search(["n"]))).toEqual(["b", "a", "z", "y"]);
    await store.delete(["n", "second"], "b");
    await store.put(["n", "second"], "b", {});
    expect(keysOf(await store.search(["n", "second"]))).toEqual(["a", "b"]);
  });

  it("gives 10 items unless told otherwise, and pages that meet without gap or overlap", async () => {
    const store = open();
    const keys = Array.from({ length: 25 }, (_, index) => `k${index}`);
    await store.batch(keys.map((key) => ({ namespace: ["pages"], key, value: {} })));
    const page = async (options: { limit?: number; offset?: number }) =>
      keysOf(await store.search(["pages"], options));
    expect(await page({})).toEqual(keys.slice(0, 10));
    expect(await page({ limit: 0 })).toEqual([]);
    expect(await page({ limit: 7, offset: 20 })).toEqual(keys.slice(20));
    expect(await page({ limit: 7, offset: 25 })).toEqual([]);
    expect(await page({ limit: 1000 })).toEqual(keys);
  });
}

/** What LangGraph says, or one of ours. */
const REFUSAL = /namespace|label|the key/iu;

function describeRefusals(open: Open): void {
  it.each([[[""]], [["a", ""]], [["a.b"]], [["a:b"]], [["a", 1 as unknown as string]]])(
    "refuses the namespace %j, everywhere",
    async (namespace) => {
      const store = open();
      await expect(store.put(namespace, "k", {})).rejects.toThrow(REFUSAL);
      await expect(store.get(namespace, "k")).rejects.toThrow(REFUSAL);
      await expect(store.delete(namespace, "k")).rejects.toThrow(REFUSAL);
      await expect(store.search(namespace)).rejects.toThrow(REFUSAL);
    },
  );

  it("refuses the empty namespace for an item, and the root label langgraph for put", async () => {
    const store = open();
    await expect(store.put([], "k", {})).rejects.toThrow(REFUSAL);
    await expect(store.get([], "k")).rejects.toThrow(REFUSAL);
    await expect(store.put(["langgraph", "x"], "k", {})).rejects.toThrow(REFUSAL);
    expect(await store.get(["langgraph", "x"], "k")).toBeNull();
  });

  it("refuses NUL and half of a surrogate pair in labels and keys", async () => {
    const store = open();
    for (const bad of ["a\u0000b", "caf\ud83d"]) {
      await expect(store.put([bad], "k", {})).rejects.toThrow(REFUSAL);
      await expect(store.put(["n"], bad, {})).rejects.toThrow(REFUSAL);
      await expect(store.get(["n"], bad)).rejects.toThrow(REFUSAL);
    }
  });
}

const FILTERED: Readonly<Record<string, Record<string, unknown>>> = {
  one: { kind: "fact", rank: 1, "user.lang": "nl", user: { lang: "de" }, flag: true, none: null },
  two: { kind: "fact", rank: 2, user: { lang: "nl" }, flag: false },
  ten: { kind: "rule", rank: 10, text: "ten" },
  text: { kind: "rule", rank: "7", tags: ["a"] },
  bare: {},
};

const FILTERS: [string, Record<string, unknown>, string[]][] = [
  ["equality", { kind: "fact" }, ["one", "two"]],
  ["several fields", { kind: "fact", rank: 2 }, ["two"]],
  ["booleans", { flag: false }, ["two"]],
  ["null, which is not absence", { none: null }, ["one"]],
  ["a dotted key, which is that key and no path", { "user.lang": "nl" }, ["one"]],
  ["text and number, which differ", { rank: "1" }, []],
  ["$eq", { rank: { $eq: 10 } }, ["ten"]],
  ["$ne, also where the field is absent", { kind: { $ne: "fact" } }, ["ten", "text", "bare"]],
  ["$gt, with text that is a number", { rank: { $gt: 1 } }, ["two", "ten", "text"]],
  ["$gte and $lt together", { rank: { $gte: 2, $lt: 10 } }, ["two", "text"]],
  ["$lte", { rank: { $lte: 1 } }, ["one"]],
  ["$in", { rank: { $in: [1, 10] } }, ["one", "ten"]],
  ["$nin", { kind: { $nin: ["fact", "rule"] } }, ["bare"]],
  ["no condition", {}, ["one", "two", "ten", "text", "bare"]],
  ["an empty condition", { rank: {} }, ["one", "two", "ten", "text", "bare"]],
  ["an object, which is equal to nothing", { user: { lang: "nl" } }, []],
  ["a list, which is equal to nothing", { tags: ["a"] }, []],
  ["a crafted key", { "kind') OR 1=1 --": "x" }, []],
  ["a path expression", { "$.kind": "fact" }, []],
  ["an empty key", { "": "fact" }, []],
  ["a prototype key", { constructor: "x", __proto__x: 1 }, []],
];

function describeFilters(open: Open): void {
  it("applies filters to items below the prefix and before the page", async () => {
    const store = open();
    for (const [key, value] of Object.entries(FILTERED)) await store.put(["mine"], key, value);
    await store.put(["theirs"], "foreign", { kind: "fact", rank: 1 });
    for (const [title, filter, keys] of FILTERS) {
      const second = await store.search(["mine"], { filter, limit: 1, offset: 1 });
      const found = [title, keysOf(await store.search(["mine"], { filter })), keysOf(second)];
      expect(found).toEqual([title, keys, keys.slice(1, 2)]);
    }
    const unknown = store.search(["mine"], { filter: { rank: { $regex: ".*" } } });
    await expect(unknown).rejects.toThrow(/\$regex/u);
  });

  it("finds values under keys that need quoting", async () => {
    const store = open();
    const keys = ['a"b', "a\\b", "a\nb", "a'b", "é", "[0]", "$", "👩‍👩‍👧", "a\u0000b", "*"];
    for (const [n, key] of keys.entries()) await store.put(["odd"], `k${n}`, { [key]: `is ${key}` });
    for (const [n, key] of keys.entries())
      expect(keysOf(await store.search(["odd"], { filter: { [key]: `is ${key}` } }))).toEqual([`k${n}`]);
  });
}

const TEXTS: Readonly<Record<string, string>> = {
  rosa: "sister's name is Rosa",
  parcel: "parcel LOT-77-A is in the shed",
  room: "wants a well-lit room",
  disk: "Do not erase disk / on the old laptop",
  fan: "The laptop has a faulty fan",
  hebrew: "שלום",
  naive: "a naïve plan".normalize("NFD"),
  nul: "abc\u0000def",
};

async function fillTexts(store: BaseStore): Promise<void> {
  for (const [key, text] of Object.entries(TEXTS))
    await store.put(["mine"], key, { text, kind: key.slice(0, 1) });
  await store.put(["theirs"], "foreign", { text: "Rosa has a laptop", kind: "f" });
}

const FOUND: [string, string[]][] = [
  ["sister's", ["rosa"]],
  ['"Rosa', ["rosa"]],
  ["(Rosa", ["rosa"]],
  ["Rosa*", ["rosa"]],
  ["ROSA", ["rosa"]],
  ["LOT-77-A", ["parcel"]],
  ["well-lit", ["room"]],
  ["-lit", ["room"]],
  ["well\u2011lit", ["room"]],
  ["DO NOT ERASE DISK /", ["disk"]],
  ["what was wrong with my laptop fan?", ["fan", "disk"]],
  ["שלום", ["hebrew"]],
  ["naïve".normalize("NFC"), ["naive"]],
  ["def", ["nul"]],
];

// The last one is 10 kB of a word that is not stored.
const UNFOUND = [
  "",
  " \t\n",
  "^",
  '""""',
  "AND",
  "NEAR(",
  "col:",
  "*",
  "()",
  "\u0000",
  "\ud83d",
  "🐈",
].concat("zebra ".repeat(1700));

function describeTextSearch(open: Open): void {
  it("finds by any word, whatever stands around it, and does not throw where there is none", async () => {
    const store = open();
    await fillTexts(store);
    for (const [query, keys] of FOUND) {
      const items = await store.search(["mine"], { query });
      expect([query, keysOf(items)]).toEqual([query, keys]);
      for (const item of items) expect(item.score).toBeGreaterThan(0);
    }
    for (const query of UNFOUND)
      expect([query, await store.search(["mine"], { query })]).toEqual([query, []]);
  });

  it("ranks best first, within the namespace, the filter and the page", async () => {
    const store = open();
    await fillTexts(store);
    const query = "laptop fan Rosa";
    const all = await store.search(["mine"], { query });
    expect(keysOf(all)).toEqual(["fan", "rosa", "disk"]);
    const scores = all.map((item) => item.score ?? 0);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    expect(keysOf(await store.search(["mine"], { query, limit: 1, offset: 1 }))).toEqual(["rosa"]);
    expect(keysOf(await store.search(["mine"], { query, filter: { kind: "d" } }))).toEqual(["disk"]);
    expect(await store.search(["mine"], { query, filter: { kind: "d" }, offset: 1 })).toEqual([]);
    expect(await store.search(["mi"], { query })).toEqual([]);
  });

  it("follows changes and deletions", async () => {
    const store = open();
    await store.put(["n"], "k", { text: "apples" });
    await store.put(["n"], "k", { text: "pears" });
    expect(await store.search(["n"], { query: "apples" })).toEqual([]);
    expect(keysOf(await store.search(["n"], { query: "pears" }))).toEqual(["k"]);
    await store.delete(["n"], "k");
    await store.put(["n"], "other", { text: "plums" });
    expect(await store.search(["n"], { query: "pears apples" })).toEqual([]);
  });

  it("indexes every string by default, the named fields, or nothing", async () => {
    const store = open();
    const parts = [{ text: "beta", note: "gamma" }, { text: "delta" }];
    const value = { title: "alpha", parts, meta: { n: 42 } };
    await store.put(["n"], "all", value);
    await store.put(["n"], "some", value, ["parts[*].text", "meta.n"]);
    await store.put(["n"], "none", value, false);
    const found = async (query: string) => keysOf(await store.search(["n"], { query })).toSorted();
    expect(await found("alpha")).toEqual(["all"]);
    expect(await found("gamma")).toEqual(["all"]);
    expect(await found("beta")).toEqual(["all", "some"]);
    expect(await found("delta")).toEqual(["all", "some"]);
    expect(await found("42")).toEqual(["some"]);
    expect(await found("title")).toEqual([]);
    await store.put(["n"], "all", value, false);
    expect(await found("alpha")).toEqual([]);
  });
}

const NAMESPACES = [
  ["facts", "ada", "home"],
  ["facts", "ada", "work"],
  ["facts", "ada10", "home"],
  ["facts", "ben", "home", "deep"],
  ["rules", "ada", "home"],
  ["rules"],
];

function describeNamespaces(open: Open): void {
  it("lists namespaces once each, in order, by prefix and suffix of whole labels, cut to a depth and paged", async () => {
    const store = open();
    for (const namespace of NAMESPACES.toReversed()) await store.put(namespace, "k", {});
    await store.put(["rules"], "another", {});
    const list = (options: Parameters<BaseStore["listNamespaces"]>[0] = {}) => store.listNamespaces(options);
    const numbered = async (options: Parameters<typeof list>[0]) =>
      (await list(options)).map((found) => NAMESPACES.findIndex((one) => one.join() === found.join()));
    expect(await list()).toEqual(NAMESPACES.toSorted((a, b) => (a.join(".") < b.join(".") ? -1 : 1)));

    expect(await numbered({ prefix: ["facts", "ada"] })).toEqual([0, 1]);
    expect(await numbered({ prefix: ["fact"] })).toEqual([]);
    expect(await numbered({ prefix: ["*", "ada"] })).toEqual([0, 1, 4]);
    expect(await numbered({ suffix: ["home"] })).toEqual([0, 2, 4]);
    expect(await numbered({ prefix: ["facts"], suffix: ["ada", "*"] })).toEqual([0, 1]);
    expect(await numbered({ prefix: ["rules", "*", "*"] })).toEqual([4]);
    expect(await numbered({ prefix: ["facts", "ada", "home", "x"] })).toEqual([]);

    expect(await list({ maxDepth: 1 })).toEqual([["facts"], ["rules"]]);
    const cut = [["facts", "ada"], ["facts", "ada10"], ["facts", "ben"], ["rules"], ["rules", "ada"]];
    expect(await list({ maxDepth: 2 })).toEqual(cut);
    expect(await list({ maxDepth: 2, limit: 2, offset: 1 })).toEqual(cut.slice(1, 3));
    expect(await list({ limit: 0 })).toEqual([]);
    expect(await list({ offset: 6 })).toEqual([]);
    expect(await numbered({ limit: 1 })).toEqual([0]);
  });

  it("lists no namespace whose last item is gone", async () => {
    const store = open();
    await store.put(["n"], "a", {});
    await store.put(["n"], "b", {});
    await store.delete(["n"], "a");
    expect(await store.listNamespaces()).toEqual([["n"]]);
    await store.delete(["n"], "b");
    expect(await store.listNamespaces()).toEqual([]);
  });
}
