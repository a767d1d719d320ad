import { InMemoryStore } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import { memoryRecord } from "../testing/memory-record.ts";
import { DOMAINS, type MemoryRecord } from "../record.ts";
import { stateOf } from "./read.ts";
import { marksAt, RETENTION } from "./retention.ts";
import { ADA, openTestFacts, recordOf, sayMany } from "./testing/test-facts.ts";

const DAY_MS = 86_400_000;

describe("the lifecycle job", () => {
  it("marks what expired and later archives task memory, and deletes nothing", async () => {
    const { say, facts, clock } = openTestFacts();
    const profile = recordOf(await say("I am in Oslo", { expiresAt: "2026-03-01" }));
    const task = recordOf(await say("Demo on Friday", { task: "lily", expiresAt: "2026-03-01" }));
    clock.set(Date.UTC(2026, 2, 1));
    expect(await facts.applyLifecycle(ADA)).toMatchObject([
      { id: profile.id, expired: true, archived: false },
      { id: task.id, expired: true, archived: false },
    ]);
    expect(await facts.applyLifecycle(ADA)).toEqual([]);
    clock.set(Date.UTC(2026, 2, 31));
    expect(await facts.applyLifecycle(ADA)).toMatchObject([{ id: task.id, expired: true, archived: true }]);
    expect((await facts.exportAll(ADA)).records).toHaveLength(2);
  });

  it("marks a profile fact as due half a year after its last confirmation, a persona never", async () => {
    const { say, facts, clock } = openTestFacts();
    const fact = recordOf(await say("I like tea"));
    await say("Be warm");
    clock.set(Date.parse(fact.created_at) + 180 * DAY_MS - 1);
    expect(await facts.applyLifecycle(ADA)).toEqual([]);
    clock.advance(1);
    expect(await facts.applyLifecycle(ADA)).toMatchObject([{ id: fact.id, verification_due: true }]);
    await facts.verify(ADA, [fact.id]);
    expect(await facts.applyLifecycle(ADA)).toEqual([]);
    clock.advance(180 * DAY_MS);
    expect(await facts.applyLifecycle(ADA)).toMatchObject([{ id: fact.id, verification_due: true }]);
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
    expect(await facts.applyLifecycle(ADA)).toEqual([]);
    expect(isForgotten).toBe(true);
    expect((await facts.exportAll(ADA)).records).toEqual([]);
  });

  it("gets through more records than it marks at once, and lets others get on in between", async () => {
    const on = openTestFacts();
    const { facts, clock } = on;
    const texts = Array.from({ length: 230 }, (_, number) => `Number ${number} is on the list`);
    await sayMany(on, texts, { expires_at: "2026-03-01T00:00:00.000Z" });
    clock.set(Date.UTC(2026, 2, 1));
    let others = 0;
    const next = (): void => void ((others += 1), (immediate = setImmediate(next)));
    let immediate = setImmediate(next);
    expect(await facts.applyLifecycle(ADA)).toHaveLength(200);
    clearImmediate(immediate);
    expect(others).toBeGreaterThan(190);
    expect(await facts.applyLifecycle(ADA)).toHaveLength(30);
  });
});

const recordWith = (changes: Partial<MemoryRecord>): MemoryRecord =>
  memoryRecord({ id: "", text: "I like tea", ...changes });

describe("the retention defaults", () => {
  it("are those of the specification", () => {
    expect(DOMAINS.map((domain) => [domain, RETENTION[domain].stability, RETENTION[domain].expiry])).toEqual([
      ["persona_core", "high", "none"],
      ["user_profile", "medium_high", "optional"],
      ["working_rules", "high", "none"],
      ["task_memory", "medium", "optional"],
    ]);
  });
});

describe("the state of a record", () => {
  const AT = "2026-08-01T00:00:00.000Z";
  const atMs = Date.parse(AT);

  it.each([
    ["current before its expiry", { expires_at: AT }, atMs - 1, "current"],
    ["expired at its expiry", { expires_at: AT }, atMs, "expired"],
    ["current for ever without one", {}, Number.MAX_SAFE_INTEGER, "current"],
    ["archived when marked", { archived: true, expires_at: AT }, atMs + 1, "archived"],
    [
      "superseded whatever else it is",
      { superseded_by: "x", archived: true, expires_at: AT },
      atMs,
      "superseded",
    ],
    ["current when only an old mark says expired", { expired: true }, atMs, "current"],
  ] as const)("is %s", (_what, changes, nowMs, state) => {
    expect(stateOf(recordWith(changes), nowMs)).toBe(state);
  });

  it("is not due when nothing reads it", () => {
    const created = recordWith({});
    const later = Date.parse(created.created_at) + 181 * DAY_MS;
    expect(marksAt(created, later).verification_due).toBe(true);
    for (const changes of [{ archived: true }, { expires_at: created.created_at }, { superseded_by: "x" }]) {
      expect(marksAt(recordWith(changes), later).verification_due).toBe(false);
    }
  });
});
