import { InMemoryStore } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import { ADA, openTestBook, recordOf } from "./testing/test-book.ts";

const DAY_MS = 86_400_000;

describe("the lifecycle job", () => {
  it("marks what expired and later archives task memory, and deletes nothing", async () => {
    const { say, book, clock } = openTestBook();
    const profile = recordOf(await say("I am in Oslo", { expiresAt: "2026-03-01" }));
    const task = recordOf(await say("Demo on Friday", { task: "lily", expiresAt: "2026-03-01" }));
    clock.set(Date.UTC(2026, 2, 1));
    const first = await book.applyLifecycle(ADA);
    expect(first).toEqual({ expired: [profile.id, task.id], archived: [], due: [] });
    expect(await book.applyLifecycle(ADA)).toEqual({ expired: [], archived: [], due: [] });
    clock.set(Date.UTC(2026, 2, 31));
    expect(await book.applyLifecycle(ADA)).toEqual({ expired: [], archived: [task.id], due: [] });
    expect((await book.exportAll(ADA)).records).toHaveLength(2);
  });

  it("marks a profile fact as due half a year after its last confirmation, a persona never", async () => {
    const { say, book, clock } = openTestBook();
    const fact = recordOf(await say("I like tea"));
    await say("Be warm");
    clock.set(Date.parse(fact.created_at) + 180 * DAY_MS - 1);
    expect((await book.applyLifecycle(ADA)).due).toEqual([]);
    clock.advance(1);
    expect((await book.applyLifecycle(ADA)).due).toEqual([fact.id]);
    await book.verify(ADA, [fact.id]);
    expect((await book.applyLifecycle(ADA)).due).toEqual([]);
    clock.advance(180 * DAY_MS);
    expect((await book.applyLifecycle(ADA)).due).toEqual([fact.id]);
  });

  it("makes no fact fresher", async () => {
    const { say, book, clock } = openTestBook();
    const fact = recordOf(await say("I like tea"));
    clock.advance(400 * DAY_MS);
    await book.applyLifecycle(ADA);
    const [marked] = (await book.exportAll(ADA)).records;
    expect(marked).toEqual({ ...fact, verification_due: true });
  });

  it("takes the mark back when the expiry is moved", async () => {
    const { say, book, clock } = openTestBook();
    const { id } = recordOf(await say("I am in Oslo", { expiresAt: "2026-03-01" }));
    clock.set(Date.UTC(2026, 2, 2));
    await book.applyLifecycle(ADA);
    await book.edit(ADA, id, { expiresAt: "2026-09-01" });
    expect((await book.show(ADA)).records).toMatchObject([{ id, expired: false }]);
  });

  it("does not put back what is forgotten between its read and its write", async () => {
    const store = new InMemoryStore();
    const { say, book, clock } = openTestBook(store);
    const { id } = recordOf(await say("I am in Oslo", { expiresAt: "2026-03-01" }));
    clock.set(Date.UTC(2026, 2, 1));
    const get = store.get.bind(store);
    let isForgotten = false;
    store.get = async (namespace, key) => {
      const item = await get(namespace, key);
      if (key === id && !isForgotten) {
        isForgotten = true;
        await book.forget(ADA, id);
      }
      return item;
    };
    expect((await book.applyLifecycle(ADA)).expired).toEqual([]);
    expect(isForgotten).toBe(true);
    expect((await book.exportAll(ADA)).records).toEqual([]);
  });

  it("gets through more records than it reads or may mark at once, and lets others get on in between", async () => {
    const { say, book, clock } = openTestBook();
    for (let number = 1; number <= 130; number += 1)
      await say(`Number ${number} is on the list`, { expiresAt: "2026-03-01" });
    clock.set(Date.UTC(2026, 2, 1));
    let pauses = 0;
    const pause = async (): Promise<void> => void (pauses += 1);
    expect((await book.applyLifecycle(ADA, { pause, limit: 100 })).expired).toHaveLength(100);
    expect((await book.applyLifecycle(ADA, { pause })).expired).toHaveLength(30);
    expect(pauses).toBeGreaterThan(130);
  });
});
