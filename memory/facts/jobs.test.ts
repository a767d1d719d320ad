import { InMemoryStore } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import { ADA, openTestFacts, recordOf } from "./testing/test-facts.ts";

const DAY_MS = 86_400_000;

describe("the lifecycle job", () => {
  it("marks what expired and later archives task memory, and deletes nothing", async () => {
    const { say, facts, clock } = openTestFacts();
    const profile = recordOf(await say("I am in Oslo", { expiresAt: "2026-03-01" }));
    const task = recordOf(await say("Demo on Friday", { task: "lily", expiresAt: "2026-03-01" }));
    clock.set(Date.UTC(2026, 2, 1));
    const first = await facts.applyLifecycle(ADA);
    expect(first).toEqual({ expired: [profile.id, task.id], archived: [], due: [] });
    expect(await facts.applyLifecycle(ADA)).toEqual({ expired: [], archived: [], due: [] });
    clock.set(Date.UTC(2026, 2, 31));
    expect(await facts.applyLifecycle(ADA)).toEqual({ expired: [], archived: [task.id], due: [] });
    expect((await facts.exportAll(ADA)).records).toHaveLength(2);
  });

  it("marks a profile fact as due half a year after its last confirmation, a persona never", async () => {
    const { say, facts, clock } = openTestFacts();
    const fact = recordOf(await say("I like tea"));
    await say("Be warm");
    clock.set(Date.parse(fact.created_at) + 180 * DAY_MS - 1);
    expect((await facts.applyLifecycle(ADA)).due).toEqual([]);
    clock.advance(1);
    expect((await facts.applyLifecycle(ADA)).due).toEqual([fact.id]);
    await facts.verify(ADA, [fact.id]);
    expect((await facts.applyLifecycle(ADA)).due).toEqual([]);
    clock.advance(180 * DAY_MS);
    expect((await facts.applyLifecycle(ADA)).due).toEqual([fact.id]);
  });

  it("makes no fact fresher", async () => {
    const { say, facts, clock } = openTestFacts();
    const fact = recordOf(await say("I like tea"));
    clock.advance(400 * DAY_MS);
    await facts.applyLifecycle(ADA);
    const [marked] = (await facts.exportAll(ADA)).records;
    expect(marked).toEqual({ ...fact, verification_due: true });
  });

  it("takes the mark back when the expiry is moved", async () => {
    const { say, facts, clock } = openTestFacts();
    const { id } = recordOf(await say("I am in Oslo", { expiresAt: "2026-03-01" }));
    clock.set(Date.UTC(2026, 2, 2));
    await facts.applyLifecycle(ADA);
    await facts.edit(ADA, id, { expiresAt: "2026-09-01" });
    expect((await facts.show(ADA)).records).toMatchObject([{ id, expired: false }]);
  });

  it("does not put back what is forgotten between its read and its write", async () => {
    const store = new InMemoryStore();
    const { say, facts, clock } = openTestFacts(store);
    const { id } = recordOf(await say("I am in Oslo", { expiresAt: "2026-03-01" }));
    clock.set(Date.UTC(2026, 2, 1));
    const get = store.get.bind(store);
    let isForgotten = false;
    store.get = async (namespace, key) => {
      const item = await get(namespace, key);
      if (key === id && !isForgotten) {
        isForgotten = true;
        await facts.forget(ADA, id);
      }
      return item;
    };
    expect((await facts.applyLifecycle(ADA)).expired).toEqual([]);
    expect(isForgotten).toBe(true);
    expect((await facts.exportAll(ADA)).records).toEqual([]);
  });

  it("gets through more records than it reads or may mark at once, and lets others get on in between", async () => {
    const { say, facts, clock } = openTestFacts();
    for (let number = 1; number <= 130; number += 1)
      await say(`Number ${number} is on the list`, { expiresAt: "2026-03-01" });
    clock.set(Date.UTC(2026, 2, 1));
    let pauses = 0;
    const pause = async (): Promise<void> => void (pauses += 1);
    expect((await facts.applyLifecycle(ADA, { pause, limit: 100 })).expired).toHaveLength(100);
    expect((await facts.applyLifecycle(ADA, { pause })).expired).toHaveLength(30);
    expect(pauses).toBeGreaterThan(130);
  });
});
