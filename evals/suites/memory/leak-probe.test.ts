import { InMemoryStore, type BaseStore } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import { indexFieldsOf } from "#memory/namespaces.ts";
import { openDatabase } from "#memory/stores/sqlite/open-database.ts";
import { SqliteStore } from "#memory/stores/sqlite/sqlite-store.ts";
import { createManualClock } from "#src/kernel/clock.ts";
import { probeLeaks } from "./testing/leak-probe.ts";

const sqliteStore = (): BaseStore =>
  new SqliteStore(openDatabase(":memory:"), {
    clock: createManualClock(0),
    index: { fields: indexFieldsOf },
  });

describe.each<[string, () => BaseStore]>([
  ["InMemoryStore", () => new InMemoryStore()],
  ["SqliteStore", sqliteStore],
])("two hundred facts of many people on %s", (_name, makeStore) => {
  it("come out at no door in another's name", async () => {
    const { leaks, knocks, people } = await probeLeaks(makeStore(), { records: 200, strangers: 2 });
    expect(leaks).toEqual([]);
    expect(knocks).toBeGreaterThan(people * 20);
  });
});

describe("the probe", () => {
  it("sees a store that takes one owner for another whose name begins alike", async () => {
    const store = new InMemoryStore();
    const search = store.search.bind(store);
    const isLike = (label: string | undefined, wanted: string | undefined): boolean =>
      label !== undefined && wanted !== undefined && label.startsWith(wanted);
    // As a bare LIKE finds them: what is below another owner, told as if it were below the one that was asked for.
    store.search = async ([root = "", kind = "", domain = "", owner, ...rest], options) => {
      const items = await search([root, kind, domain], { ...options, limit: 100_000 });
      const alike =
        owner === undefined ? items : items.filter(({ namespace }) => isLike(namespace[3], owner));
      return alike
        .map((item) => ({
          ...item,
          namespace: [
            root,
            kind,
            domain,
            ...(owner === undefined ? [] : [owner]),
            ...item.namespace.slice(4),
          ],
          value: item.value,
        }))
        .filter(({ namespace }) => rest.every((label, index) => namespace[4 + index] === label));
    };
    const { leaks } = await probeLeaks(store, { records: 100, strangers: 1 });
    expect(leaks.length).toBeGreaterThan(0);
  });
});
