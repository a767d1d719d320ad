/** How much an owner's memory holds. */
import { assertOwner, personalityPrefixes } from "../namespaces.ts";
import type { Domain } from "../record.ts";
import type { Desk } from "./desk.ts";
import { factCounts, sumOfCounts, type StateCount } from "./fact-counts.ts";
import { readAll, readPending, taskPrefixes } from "./rows.ts";
import { settle, type SettledRecord } from "./settle.ts";
import type { Who } from "./types.ts";

/** Counts of what holds now by domain, of what waits for a review, and of what is kept but not read. */
export interface Overview {
  readonly current: Readonly<Record<Domain, number>>;
  readonly review: number;
  readonly leftOut: number;
}

/** Counts the records of an owner. */
export async function overview(desk: Desk, who: Who): Promise<Overview> {
  assertOwner(who.owner);
  const [byDomain, pending] = await Promise.all([
    countsOf(desk, who.owner),
    readPending(desk.store, who.owner),
  ]);
  const { expired, archived, superseded } = sumOfCounts(Object.values(byDomain));
  return {
    current: {
      persona_core: byDomain.persona_core.current,
      user_profile: byDomain.user_profile.current,
      working_rules: byDomain.working_rules.current,
      task_memory: byDomain.task_memory.current,
    },
    review: pending.length,
    leftOut: expired + archived + superseded,
  };
}

async function countsOf(desk: Desk, owner: string): Promise<Record<Domain, StateCount>> {
  const tasks = await taskPrefixes(desk.store, owner);
  const counts = await factCounts(desk, owner, [...personalityPrefixes(owner), ...tasks]);
  if (counts === undefined) return countedOf(settle(await readAll(desk.store, owner), desk.clock.now()));
  const [persona_core, user_profile, working_rules, ...ofTasks] = counts;
  return {
    persona_core: persona_core ?? NONE,
    user_profile: user_profile ?? NONE,
    working_rules: working_rules ?? NONE,
    task_memory: sumOfCounts(ofTasks),
  };
}

const NONE: StateCount = { current: 0, expired: 0, archived: 0, superseded: 0 };

function countedOf(settled: readonly SettledRecord[]): Record<Domain, StateCount> {
  const counts = {
    persona_core: { ...NONE },
    user_profile: { ...NONE },
    working_rules: { ...NONE },
    task_memory: { ...NONE },
  };
  for (const { record, state } of settled) counts[record.domain][state] += 1;
  return counts;
}
