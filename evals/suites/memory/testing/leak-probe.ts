/** Knocks at every door of memory in the name of each person, with what belongs to others, and looks for what comes out. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { memoryTools } from "#graphs/session/memory-tools.ts";
import { createFactStore, type FactStore } from "#memory/facts/fact-store.ts";
import { DOMAINS } from "#memory/record.ts";
import { createManualClock } from "#src/kernel/clock.ts";
import { createSequentialIds } from "#src/kernel/ids.ts";
import { fillCrowd, type Member } from "./crowd.ts";

/** Something of `of` that `by` was given, or could change. */
export interface Leak {
  readonly door: string;
  readonly by: string;
  readonly of: string;
}

/** What the probe did and found. */
export interface LeakReport {
  readonly people: number;
  readonly records: number;
  /** Knocks at a door in the name of one person with what is another's. */
  readonly knocks: number;
  readonly leaks: readonly Leak[];
}

const NOW_MS = Date.UTC(2026, 1, 3, 10, 15);

/** How much is probed. */
export interface ProbeOptions {
  readonly records: number;
  /** Others whose things each person tries; 6 by default. */
  readonly strangers?: number;
}

/** Fills `store` with facts of the crowd and probes it. */
export async function probeLeaks(
  store: BaseStore,
  { records, strangers = 6 }: ProbeOptions,
): Promise<LeakReport> {
  const clock = createManualClock(NOW_MS);
  const facts = createFactStore(store, { clock, ids: createSequentialIds(), scan: async () => [] });
  const members = await fillCrowd(facts, records);
  const before = await snapshot(facts, members);
  const leaks: Leak[] = [];
  let knocks = 0;
  for (const [index, by] of members.entries()) {
    for (let step = 0; step < strangers; step += 1) {
      const of = members[(index + 1 + step * 7) % members.length];
      if (of === undefined || of === by) continue;
      for (const [door, answer] of await knock(facts, by, of)) {
        knocks += 1;
        const seen = members.filter((member) => member !== by && answer.includes(member.mark));
        leaks.push(...seen.map((member) => ({ door, by: by.owner, of: member.owner })));
      }
    }
  }
  leaks.push(...changedSince(before, await snapshot(facts, members)));
  leaks.push(...(await probeImport(facts, members, strangers)));
  return { people: members.length, records, knocks, leaks };
}

type Answer = readonly [door: string, text: string];

/** Everything that `by` can ask for, asked with the words and ids of `of`. */
async function knock(facts: FactStore, by: Member, of: Member): Promise<Answer[]> {
  const who = { owner: by.owner, agent: "lily", sessionId: "s1", turn: 1 };
  const everything = {
    scope: "*",
    includeAll: true,
  } as const;
  const [id = "", other = ""] = of.ids;
  const [pending = ""] = of.pending;
  const query = `garden shed bike ${of.canary}`;
  const memory = { facts, who };
  const search = memoryTools({ memory, nowMs: NOW_MS, timeZone: "UTC" }).find(
    ({ name }) => name === "memory_search",
  );
  const doors: readonly (readonly [string, () => Promise<unknown>])[] = [
    ["show", () => facts.show(who, { domains: DOMAINS, task: "*", ...everything, limit: 100_000 })],
    [
      "show words",
      () => facts.show(who, { domains: DOMAINS, task: "*", ...everything, query, limit: 100_000 }),
    ],
    ["show the name as a task", () => facts.show(who, { task: of.owner })],
    ["recall", () => facts.recall(who, { query, limit: 50, byMeaning: true, task: "shop" })],
    ["memory_search", async () => search?.invoke({ query })],
    ["find", () => facts.find(who, id)],
    ["find by the beginning", () => facts.find(who, id.slice(0, 8))],
    ["edit", () => facts.edit(who, id, { text: "I was here" })],
    ["verify", () => facts.verify(who, [id, other])],
    ["resolve", () => facts.resolve(who, id)],
    ["forget", () => facts.forget(who, other)],
    ["forget what waits", () => facts.forget(who, pending)],
    ["review", () => facts.review.list(who)],
    ["accept", () => facts.review.accept(who, pending)],
    ["reject", () => facts.review.reject(who, pending)],
    ["conflicts", () => facts.conflicts(who)],
    ["export", () => facts.exportAll(who)],
    ["overview", () => facts.overview(who)],
  ];
  const answers: Answer[] = [];
  for (const [door, ask] of doors) answers.push([door, JSON.stringify(await ask()) ?? ""]);
  return answers;
}

/** Whether somebody's import of another's file changes what the other has. */
async function probeImport(facts: FactStore, members: readonly Member[], strangers: number): Promise<Leak[]> {
  const [by, ...others] = members;
  if (by === undefined) return [];
  const before = await snapshot(facts, others);
  for (const of of others.slice(0, strangers))
    await facts.importAll({ owner: by.owner }, await facts.exportAll({ owner: of.owner }));
  return changedSince(before, await snapshot(facts, others)).map((leak) => ({
    ...leak,
    door: "import",
    by: by.owner,
  }));
}

type Snapshot = ReadonlyMap<string, string>;

/** All that each of them has, in text. */
async function snapshot(facts: FactStore, members: readonly Member[]): Promise<Snapshot> {
  const texts = new Map<string, string>();
  for (const { owner } of members) {
    const { records } = await facts.exportAll({ owner });
    texts.set(owner, JSON.stringify([records, await facts.review.list({ owner })]));
  }
  return texts;
}

function changedSince(before: Snapshot, after: Snapshot): Leak[] {
  return [...before]
    .filter(([owner, text]) => after.get(owner) !== text)
    .map(([owner]) => ({ door: "a change", by: "somebody", of: owner }));
}
