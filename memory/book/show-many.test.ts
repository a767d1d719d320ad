import { InMemoryStore, type BaseStore } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import { createManualClock } from "#src/kernel/clock.ts";
import { memoryIndexFields } from "../namespaces.ts";
import { StoreView } from "../stores/direct-store.ts";
import { openDatabase } from "../stores/sqlite/open-database.ts";
import { SqliteStore } from "../stores/sqlite/sqlite-store.ts";
import { crashWhileSaying, ADA, NOW_MS, openTestBook, recordOf, type TestBook } from "./testing/test-book.ts";
import type { ShowOptions } from "./types.ts";

const openSqliteStore = (): BaseStore =>
  new SqliteStore(openDatabase(":memory:"), {
    clock: createManualClock(NOW_MS),
    isDurable: () => false,
    index: (namespace) => memoryIndexFields(namespace) ?? ["$"],
  });

/** A book on a store that counts the items it gives, however it is asked. */
function openCounted(): { readonly on: TestBook; readonly seen: { rows: number } } {
  const seen = { rows: 0 };
  const store = openSqliteStore();
  const counted = new StoreView(async (operations) => {
    const results = await store.batch(operations);
    seen.rows += results.flat().filter((one) => one !== null).length;
    return results;
  });
  return { on: openTestBook(counted), seen };
}

async function sayMany({ say }: TestBook, count: number): Promise<void> {
  for (let number = 0; number < count; number += 1)
    await say(`note ${number} about the garden shed`, { domain: "user_profile" });
}

/** Facts in every state, in several places. */
async function fill(on: TestBook): Promise<void> {
  await sayMany(on, 20);
  await on.say("I live in Ghent");
  await on.say("I live in Oslo");
  await on.say("I am in Rome", { expiresAt: "2026-02-04" });
  await on.say("The tour starts in Bonn", { task: "tour" });
  await on.say("The shop opens at nine", { task: "shop", expiresAt: "2026-02-04" });
  await on.say("I like rail travel", { scope: "agent:travel" });
  const tea = recordOf(await on.say("I like tea", { domain: "user_profile" }));
  await on.book.edit(ADA, tea.id, { archived: true });
  await on.say("Be warm");
  on.clock.set(Date.UTC(2026, 1, 4));
}

const OPTIONS: ShowOptions[] = [
  {},
  { limit: 3 },
  { limit: 0 },
  { scope: "*" },
  { scope: "*", includeExpired: true },
  { includeArchived: true, limit: 4 },
  { includeSuperseded: true },
  { includeSuperseded: true, includeArchived: true, includeExpired: true, scope: "*" },
  { task: "*" },
  { task: "shop" },
  { domains: ["user_profile", "task_memory"], task: "tour", includeExpired: true },
];

describe("listing without reading everything", () => {
  it.each(OPTIONS)("gives what a store gives that reads everything: %j", async (options) => {
    const [fast, slow] = [openTestBook(openSqliteStore()), openTestBook(new InMemoryStore())];
    await fill(fast);
    await fill(slow);
    expect(await fast.book.show(ADA, options)).toEqual(await slow.book.show(ADA, options));
    expect(await fast.book.overview(ADA)).toEqual(await slow.book.overview(ADA));
  });

  it("reads a page of many facts for a list, none for the overview, and one for the beginning of an id", async () => {
    const { on, seen } = openCounted();
    const first = recordOf(await on.say("I like tea", { domain: "user_profile" }));
    await sayMany(on, 300);
    const rowsOf = async (work: () => Promise<unknown>) => {
      seen.rows = 0;
      await work();
      return seen.rows;
    };
    expect(await rowsOf(() => on.book.show(ADA, { limit: 5 }))).toBeLessThan(30);
    expect(await rowsOf(() => on.book.overview(ADA))).toBeLessThan(10);
    expect(await rowsOf(() => on.book.find(ADA, first.id.slice(0, 12).replace("-", "")))).toBe(1);
    expect(await rowsOf(() => on.book.find(ADA, first.id))).toBe(1);
  });

  it("looks for what a correction contradicts by the thing alone, beside many others", async () => {
    const { on, seen } = openCounted();
    await on.say("I live in Ghent");
    await sayMany(on, 200);
    seen.rows = 0;
    const outcome = await on.say("I live in Oslo");
    expect(outcome).toMatchObject({ kind: "stored", superseded: [{ text: "I live in Ghent" }] });
    expect(seen.rows).toBeLessThan(10);
  });

  it("reads everything where an item is no record, and says how many", async () => {
    const on = openTestBook(openSqliteStore());
    const { id } = recordOf(await on.say("I like tea", { domain: "user_profile" }));
    const namespace = ["memory", "personality", "user_profile", "ada", "global"];
    await on.store.put(namespace, "junk", { text: "not a record" });
    const copy = (await on.store.get(namespace, id))?.value ?? {};
    await on.store.put(namespace, "00000000-0000-4000-8000-000000000000", copy, ["text"]);
    const sources = { ...copy, source: "a rumour" };
    await on.store.put(namespace, id, sources, ["text"]);
    expect(await on.book.show(ADA)).toMatchObject({ total: 0, unreadable: 3 });
    await on.store.delete(namespace, "junk");
    await on.store.delete(namespace, "00000000-0000-4000-8000-000000000000");
    expect(await on.book.show(ADA)).toMatchObject({ total: 0, unreadable: 1 });
  });

  it("draws the conclusion of a replacement that a crash cut short", async () => {
    const on = openTestBook(openSqliteStore());
    await on.say("My bike is a red Brompton");
    await crashWhileSaying(on, "My bike is a blue Moulton", 3);
    expect(await on.book.show(ADA)).toMatchObject({ total: 1, leftOut: { superseded: 1 } });
    expect((await on.book.overview(ADA)).leftOut).toBe(1);
  });
});
