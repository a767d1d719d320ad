import { InMemoryStore } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import { createManualClock } from "#src/kernel/clock.ts";
import { createSequentialIds } from "#src/kernel/ids.ts";
import { recordNamespace } from "../namespaces.ts";
import { findSaying, forgetSaying, markForgotten } from "./forget-saying.ts";
import { ADA, openTestFacts, recordOf } from "./testing/test-facts.ts";

const saysTea = (text: string): boolean => /tea/iu.test(text);
const depsOn = (store: InMemoryStore) => ({
  store,
  clock: createManualClock(Date.parse("2026-03-01T09:00:00.000Z")),
  ids: createSequentialIds(9),
  scan: async () => [],
});

async function everything(store: InMemoryStore): Promise<string> {
  return JSON.stringify(await store.search([], { limit: 1000 }));
}

describe("forgetting by what is said", () => {
  it("takes every record that says it, also of tasks, replaced and under review, and what cannot be read", async () => {
    const store = new InMemoryStore();
    const { say, facts, texts } = openTestFacts(store);
    await say("I like tea");
    await say("I like jazz");
    await say("Tea is served at five", { task: "fair" });
    await say("the stalls open at nine", { task: "Tea party" });
    await say("Always serve tea", { saidBy: "tool", source: "inference" });
    const place = { domain: "user_profile", scope: "global", task: null } as const;
    await store.put(recordNamespace("ada", place), "odd", { schema_version: 9, words: ["tea"] });
    expect(await facts.review.list(ADA)).toHaveLength(1);
    const { records, unreadable } = await findSaying(depsOn(store), ADA, saysTea);
    expect([records.length, unreadable.length]).toEqual([4, 1]);
    expect(await forgetSaying(depsOn(store), ADA, saysTea)).toEqual({ forgotten: 5 });
    expect(await everything(store)).not.toMatch(/tea/iu);
    expect(await texts()).toEqual(["I like jazz"]);
    expect(await forgetSaying(depsOn(store), ADA, saysTea)).toEqual({ forgotten: 0 });
  });

  it("keeps what it took from coming back, and leaves the facts of others", async () => {
    const store = new InMemoryStore();
    const { say, facts } = openTestFacts(store);
    const file = await (async () => {
      await say("I like tea");
      return facts.exportAll(ADA);
    })();
    const bob = { owner: "bob" };
    const his = recordOf(
      await facts.remember(bob, { text: "I like tea", saidBy: "owner", source: "command" }),
    );
    await forgetSaying(depsOn(store), ADA, saysTea);
    expect(await facts.importAll(ADA, file)).toMatchObject({ added: 0, forgotten: 1 });
    expect(await facts.find(bob, his.id)).toMatchObject({ kind: "one" });
  });

  it("marks a text that no record says, once", async () => {
    const store = new InMemoryStore();
    const { say } = openTestFacts(store);
    await markForgotten(depsOn(store), ADA, "I like tea");
    await markForgotten(depsOn(store), ADA, "i like TEA");
    expect(await store.search(["memory", "tombstones", "ada"])).toHaveLength(1);
    expect(await say("I like tea", { saidBy: "tool", source: "inference" })).toMatchObject({
      kind: "forgotten",
    });
  });
});
