/** Contract of what our stores are asked beyond LangGraph's `search`. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import { factCountIn } from "../fact-search.ts";
import type { DirectStore } from "../direct-store.ts";
import { keysOf, withStore } from "./with-store.ts";
import type { MakeStore } from "./traits.ts";

const PLACE = ["memory", "personality", "user_profile", "ada", "global"];
const AGENT = [...PLACE.slice(0, -1), "agent=3Achef"];
const OTHER = ["memory", "personality", "user_profile", "ada1", "global"];
const AT = "2026-02-01T00:00:00.000Z";

interface Stored {
  readonly id: string;
  readonly updated_at: string;
  readonly superseded_by: string | null;
  readonly archived: boolean;
  readonly expires_at: string | null;
  readonly conflict_group: string | null;
}

const day = (number: number): string => `2026-01-${String(number).padStart(2, "0")}T00:00:00.000Z`;

function factOf(id: string, more: Partial<Stored> = {}) {
  return {
    schema_version: 1,
    id,
    text: `walnut ${id}`,
    updated_at: day(1),
    superseded_by: null,
    archived: false,
    expires_at: null,
    conflict_group: null,
    ...more,
  };
}

async function put(store: BaseStore, value: ReturnType<typeof factOf>, namespace = PLACE): Promise<void> {
  await store.put(namespace, value.id, value, ["text"]);
}

const search = (store: BaseStore, prefix: string[], options: Parameters<DirectStore["search"]>[1]) =>
  store.search(prefix, options);

/** The stores that have these orders; the others ignore the wishes. */
export function describeFactSearch(title: string, makeStore: MakeStore): void {
  describe(`${title}: facts`, () => {
    it(
      "come newest first, equals by key, of all namespaces below the prefix and within the page",
      withStore(makeStore, async (store) => {
        await put(store, factOf("b", { updated_at: day(2) }));
        await put(store, factOf("c", { updated_at: day(2) }));
        await put(store, factOf("a", { updated_at: day(2) }));
        await put(store, factOf("old"));
        await put(store, factOf("new", { updated_at: day(9) }), AGENT);
        await put(store, factOf("theirs", { updated_at: day(9) }), OTHER);
        await store.put(PLACE, "no-fact", { text: "no fact", updated_at: day(9) });
        const newest = async (prefix: string[], more = {}) =>
          keysOf(await search(store, prefix, { newestFirst: true, ...more }));
        expect(await newest(PLACE)).toEqual(["a", "b", "c", "old"]);
        expect(await newest(PLACE, { limit: 2, offset: 1 })).toEqual(["b", "c"]);
        expect(await newest(PLACE.slice(0, -1), { limit: 2 })).toEqual(["new", "a"]);
        expect(await newest(PLACE, { filter: { updated_at: day(1) } })).toEqual(["old"]);
        expect(await newest(PLACE, { filter: { id: { $ne: "b" } }, limit: 2 })).toEqual(["a", "c"]);
        for (const item of await search(store, PLACE, { newestFirst: true }))
          expect(item.score).toBeGreaterThan(0);
      }),
    );

    it.each([
      ["attribute:home", ["new", "old"]],
      ["attribute:HOME", []],
      ['"quoted" \\ ünïcode 猫', ["odd"]],
      ["null", []],
      [null, ["none"]],
    ])("are found by what they are about: %j", async (group, keys) => {
      await withStore(makeStore, async (store) => {
        await put(store, factOf("old", { conflict_group: "attribute:home" }));
        await put(store, factOf("new", { conflict_group: "attribute:home", updated_at: day(3) }));
        await put(store, factOf("odd", { conflict_group: '"quoted" \\ ünïcode 猫' }));
        await put(store, factOf("none"));
        const filter = { conflict_group: group, archived: false };
        expect(keysOf(await search(store, PLACE, { newestFirst: true, filter }))).toEqual(keys);
      })();
    });

    it(
      "are found by the beginning of their key, whatever stands beside it",
      withStore(makeStore, async (store) => {
        for (const id of ["9c41", "9c41e7", "9c42", "9c4", "9c41-0", "9C41"]) await put(store, factOf(id));
        await put(store, factOf("9c41ff"), AGENT);
        await put(store, factOf("9c41ee"), OTHER);
        const byKey = async (keyPrefix: string, more = {}) =>
          keysOf(await search(store, PLACE.slice(0, -1), { keyPrefix, ...more })).toSorted();
        expect(await byKey("9c41")).toEqual(["9c41", "9c41-0", "9c41e7", "9c41ff"]);
        expect(await byKey("9c41e")).toEqual(["9c41e7"]);
        expect(await byKey("%")).toEqual([]);
        expect(await byKey("_")).toEqual([]);
        expect(await byKey("9c41", { filter: { id: "9c41-0" } })).toEqual(["9c41-0"]);
        expect(await byKey("9c41", { limit: 1, offset: 3 })).toHaveLength(1);
      }),
    );

    it(
      "are counted by state at an instant",
      withStore(makeStore, async (store) => {
        const count = async (prefix = PLACE) => factCountIn(await search(store, prefix, { countAt: AT }));
        const none = { current: 0, expired: 0, archived: 0, superseded: 0, others: 0 };
        expect(await count()).toEqual(none);
        await put(store, factOf("holds"));
        await put(store, factOf("holds-yet", { expires_at: "2026-02-01T00:00:00.001Z" }));
        await put(store, factOf("over", { expires_at: AT }));
        await put(store, factOf("archived", { archived: true, expires_at: AT }));
        await put(store, factOf("replaced", { superseded_by: "holds", archived: true }));
        expect(await count()).toEqual({ current: 2, expired: 1, archived: 1, superseded: 1, others: 0 });
        await store.put(PLACE, "junk", { text: "no fact" });
        await store.put(PLACE, "copy", factOf("holds"), ["text"]);
        await store.put(PLACE, "later", { ...factOf("later"), schema_version: 2 }, ["text"]);
        await put(store, factOf("elsewhere"), AGENT);
        await put(store, factOf("theirs"), OTHER);
        expect(await count()).toEqual({ current: 2, expired: 1, archived: 1, superseded: 1, others: 3 });
        expect((await count(PLACE.slice(0, -1)))?.current).toBe(3);
        await store.delete(PLACE, "holds");
        expect((await count())?.current).toBe(1);
      }),
    );
  });
}
