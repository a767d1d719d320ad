/** Contract: search by words. */
import { describe, expect, it } from "vitest";
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { keysOf, withStore, type MakeStore } from "./with-store.ts";

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

async function fill(store: BaseStore): Promise<void> {
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

// A query as a whole is 10 kB of words, none of which is stored.
const UNFOUND = [
  "",
  " \t\n",
  "^",
  "\\",
  '"',
  '""""',
  "AND",
  "NEAR(",
  "col:",
  "*",
  "-",
  "()",
  "\u0000",
  "\ud83d",
  "🐈",
  "zebra ".repeat(1700),
];

export function describeTextSearch(makeStore: MakeStore): void {
  describe("search by words", () => {
    it.each(FOUND)("finds by %j", async (query, keys) => {
      await withStore(makeStore, async (store) => {
        await fill(store);
        const items = await store.search(["mine"], { query });
        expect(keysOf(items)).toEqual(keys);
        for (const item of items) expect(item.score).toBeGreaterThan(0);
      })();
    });

    it.each(UNFOUND)("finds nothing by %j, and does not throw", async (query) => {
      await withStore(makeStore, async (store) => {
        await fill(store);
        expect(await store.search(["mine"], { query })).toEqual([]);
      })();
    });

    it(
      "ranks best first, within the namespace, the filter and the page",
      withStore(makeStore, async (store) => {
        await fill(store);
        const query = "laptop fan Rosa";
        const all = await store.search(["mine"], { query });
        expect(keysOf(all)).toEqual(["fan", "rosa", "disk"]);
        expect(all.map((item) => item.score)).toEqual(
          all.map((item) => item.score ?? 0).toSorted((a, b) => b - a),
        );
        expect(keysOf(await store.search(["mine"], { query, limit: 1, offset: 1 }))).toEqual(["rosa"]);
        expect(keysOf(await store.search(["mine"], { query, filter: { kind: "d" } }))).toEqual(["disk"]);
        expect(await store.search(["mine"], { query, filter: { kind: "d" }, offset: 1 })).toEqual([]);
        expect(await store.search(["mi"], { query })).toEqual([]);
      }),
    );

    describeIndex(makeStore);
  });
}

function describeIndex(makeStore: MakeStore): void {
  it(
    "follows changes and deletions",
    withStore(makeStore, async (store) => {
      await store.put(["n"], "k", { text: "apples" });
      await store.put(["n"], "k", { text: "pears" });
      expect(await store.search(["n"], { query: "apples" })).toEqual([]);
      expect(keysOf(await store.search(["n"], { query: "pears" }))).toEqual(["k"]);
      await store.delete(["n"], "k");
      expect(await store.search(["n"], { query: "pears" })).toEqual([]);
      await store.put(["n"], "other", { text: "plums" });
      expect(await store.search(["n"], { query: "pears apples" })).toEqual([]);
    }),
  );

  it(
    "indexes every string by default, the named fields, or nothing",
    withStore(makeStore, async (store) => {
      const value = {
        title: "alpha",
        parts: [{ text: "beta", note: "gamma" }, { text: "delta" }],
        meta: { n: 42 },
      };
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
    }),
  );
}
