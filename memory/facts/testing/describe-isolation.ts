/** Property: owners, tasks and scopes never meet, whatever their names are. Takes any LangGraph store. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createManualClock } from "#src/kernel/clock.ts";
import { createSequentialIds } from "#src/kernel/ids.ts";
import type { Scope } from "../../record.ts";
import { createFactStore, type FactStore } from "../fact-store.ts";
import { NOW_MS } from "./test-facts.ts";

// Prefixes of each other, separators, wildcards, escapes, what looks empty, one letter in two forms, other scripts.
const NAMES = [
  "user1",
  "user10",
  "User1",
  "user",
  "user1 ",
  " ",
  "\u00a0",
  "\u200b",
  "a.b",
  "a",
  "a:b",
  "a/b",
  "%",
  "user%",
  "user_",
  "_",
  "amy-lee",
  "amy_lee",
  "j.doe@ex.org",
  "=",
  "=2E",
  "a=2Eb",
  "~",
  "a~b",
  "é",
  "e\u0301",
  "ﬁ",
  "fi",
  "我",
  "💜",
  "\u202ea",
  "*",
  "'; DROP TABLE x; --",
  "__proto__",
  "global",
  "memory",
  "langgraph",
  "x".repeat(190),
];

const name = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...NAMES) },
  {
    weight: 1,
    arbitrary: fc
      .string({ minLength: 1, maxLength: 8, unit: "grapheme" })
      .filter((text) => !text.includes("\u0000")),
  },
  {
    weight: 2,
    arbitrary: fc
      .array(fc.constantFrom("a", "b", ".", ":", "~", "=", "%", "_"), { minLength: 1, maxLength: 4 })
      .map((parts) => parts.join("")),
  },
);

interface Place {
  readonly owner: string;
  readonly task: string | null;
  readonly agent: string | null;
}

const place = fc.record({ owner: name, task: fc.option(name), agent: fc.option(name) });
const keyOf = ({ owner, task, agent }: Place): string => JSON.stringify([owner, task, agent]);
const places = fc.uniqueArray(place, { minLength: 2, maxLength: 8, selector: keyOf });

const scopeOf = ({ agent }: Place): Scope => (agent === null ? "global" : `agent:${agent}`);

async function fill(facts: FactStore, all: readonly Place[]): Promise<void> {
  for (const [index, one] of all.entries()) {
    const task = one.task === null ? { domain: "user_profile" as const } : { task: one.task };
    const fact = {
      text: `walnut ${index}`,
      saidBy: "owner",
      source: "command",
      scope: scopeOf(one),
      ...task,
    } as const;
    const outcome = await facts.remember({ owner: one.owner }, fact);
    expect(outcome.kind).toBe("stored");
  }
}

/** Runs the property; `makeStore` gives an empty store each time. */
export function describeIsolation(
  title: string,
  makeStore: () => BaseStore | Promise<BaseStore>,
  numRuns = 15,
): void {
  describe(`isolation of memory: ${title}`, () => {
    it("gives every owner, task and scope its own facts and no other's", async () => {
      await fc.assert(
        fc.asyncProperty(places, async (all) => {
          const facts = await openBook(makeStore);
          await fill(facts, all);
          for (const [index, one] of all.entries()) {
            const task = one.task === null ? {} : { task: one.task };
            const who = { owner: one.owner };
            for (const query of [{}, { query: "walnut" }]) {
              const { records, unreadable } = await facts.show(who, {
                ...task,
                scope: scopeOf(one),
                ...query,
              });
              expect(records.map(({ text }) => text)).toEqual([`walnut ${index}`]);
              expect(unreadable).toBe(0);
            }
            const mine = all.flatMap((other, at) => (other.owner === one.owner ? [`walnut ${at}`] : []));
            const exported = await facts.exportAll(who);
            expect(exported.records.map(({ text }) => text).sort()).toEqual(mine.sort());
          }
        }),
        { numRuns },
      );
    });

    it("forgets only what is the owner's", async () => {
      await fc.assert(
        fc.asyncProperty(places, async (all) => {
          const facts = await openBook(makeStore);
          await fill(facts, all);
          const [victim = { owner: "", task: null, agent: null }] = all;
          const { records } = await facts.exportAll({ owner: victim.owner });
          for (const other of all.filter(({ owner }) => owner !== victim.owner)) {
            for (const { id } of records) {
              expect(await facts.forget({ owner: other.owner }, id)).toEqual({ kind: "none" });
              expect(await facts.find({ owner: other.owner }, id)).toEqual([]);
            }
          }
          for (const { id } of records) await facts.forget({ owner: victim.owner }, id);
          const left = await Promise.all(all.map(({ owner }) => facts.exportAll({ owner })));
          expect(left.map((file) => file.records.length === 0)).toEqual(
            all.map(({ owner }) => owner === victim.owner),
          );
        }),
        { numRuns: Math.ceil(numRuns / 3) },
      );
    });
  });
}

async function openBook(makeStore: () => BaseStore | Promise<BaseStore>): Promise<FactStore> {
  const deps = { clock: createManualClock(NOW_MS), ids: createSequentialIds(), scan: async () => [] };
  return createFactStore(await makeStore(), deps);
}
