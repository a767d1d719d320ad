/** How much an owner's memory holds. */
import { assertOwner } from "../namespaces.ts";
import type { Domain } from "../record.ts";
import type { Desk } from "./desk.ts";
import { readAll, readPending } from "./rows.ts";
import { settle } from "./settle.ts";
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
  const [all, pending] = await Promise.all([
    readAll(desk.store, who.owner),
    readPending(desk.store, who.owner),
  ]);
  const settled = settle(all, desk.clock.now());
  const count = (domain: Domain): number =>
    settled.filter(({ record, state }) => state === "current" && record.domain === domain).length;
  return {
    current: {
      persona_core: count("persona_core"),
      user_profile: count("user_profile"),
      working_rules: count("working_rules"),
      task_memory: count("task_memory"),
    },
    review: pending.length,
    leftOut: settled.filter(({ state }) => state !== "current").length,
  };
}
