/** Contract: filters on values. */
import { describe, expect, it } from "vitest";
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { keysOf, withStore, type MakeStore } from "./with-store.ts";

const VALUES: Readonly<Record<string, Record<string, unknown>>> = {
  one: { kind: "fact", rank: 1, "user.lang": "nl", user: { lang: "de" }, flag: true, none: null },
  two: { kind: "fact", rank: 2, user: { lang: "nl" }, flag: false },
  ten: { kind: "rule", rank: 10, text: "ten" },
  text: { kind: "rule", rank: "7", tags: ["a"] },
  bare: {},
};

async function fill(store: BaseStore): Promise<void> {
  for (const [key, value] of Object.entries(VALUES)) await store.put(["mine"], key, value);
  await store.put(["theirs"], "foreign", { kind: "fact", rank: 1 });
}

const CASES: [string, Record<string, unknown>, string[]][] = [
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
  ["an unknown field", { nope: 1 }, []],
  ["a crafted key", { "kind') OR 1=1 --": "x" }, []],
  ["a crafted path", { "a.b\"]') = 1 OR ('1": 1 }, []],
  ["a quoted path", { '"': 1 }, []],
  ["a path expression", { "$.kind": "fact" }, []],
  ["a path expression in brackets", { "kind[0]": "fact" }, []],
  ["an empty key", { "": "fact" }, []],
  ["a prototype key", { constructor: "x", __proto__x: 1 }, []],
];

export function describeFilters(makeStore: MakeStore): void {
  describe("filters", () => {
    it.each(CASES)("applies %s", async (_title, filter, keys) => {
      await withStore(makeStore, async (store) => {
        await fill(store);
        expect(keysOf(await store.search(["mine"], { filter }))).toEqual(keys);
        expect(keysOf(await store.search(["mine"], { filter, limit: 1, offset: 1 }))).toEqual(
          keys.slice(1, 2),
        );
      })();
    });

    it(
      "finds values under keys that need quoting",
      withStore(makeStore, async (store) => {
        const keys = ['a"b', "a\\b", "a\nb", "a b", "a'b", "é", "[0]", "$", "👩‍👩‍👧", "a\u0000b", "*", "#"];
        for (const key of keys)
          await store.put(["odd"], key.replace("\u0000", "NUL"), { [key]: `is ${key}` });
        for (const key of keys) {
          const items = await store.search(["odd"], { filter: { [key]: `is ${key}` } });
          expect(items.map((item) => item.value)).toEqual([{ [key]: `is ${key}` }]);
        }
      }),
    );

    it(
      "refuses an operator that does not exist",
      withStore(makeStore, async (store) => {
        await fill(store);
        await expect(store.search(["mine"], { filter: { rank: { $regex: ".*" } } })).rejects.toThrow(
          /\$regex/u,
        );
      }),
    );
  });
}
