/** How much an owner's memory holds. */
import { assertOwner } from "../namespaces.ts";
import type { Domain } from "../record.ts";
import type { FactDeps } from "./fact-deps.ts";
import { readAll, readPending } from "./rows.ts";
import { currentOf } from "./record-states.ts";
import type { Who } from "./types.ts";

/** Counts of what holds now by domain, of what waits for a review, and of what is kept but not read. */
export interface Overview {
  readonly current: Readonly<Record<Domain, number>>;
  readonly review: number;
  readonly leftOut: number;
}

/** Counts the records of an owner. */
export async function overview(deps: FactDeps, who: Who): Promise<Overview> {
  assertOwner(who.owner);
  const [records, pending] = await Promise.all([
    readAll(deps.store, who.owner),
    readPending(deps.store, who.owner),
  ]);
  const current = { persona_core: 0, user_profile: 0, working_rules: 0, task_memory: 0 };
  const holding = currentOf(records, deps.clock.now());
  for (const { domain } of holding) current[domain] += 1;
  return { current, review: pending.length, leftOut: records.length - holding.length };
}
