/** The lifecycle job of memory beside the turns of a process: marks only, and nothing waits for it. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { applyLifecycle } from "#memory/book/jobs.ts";
import { jobsBesideTurns, type JobsBesideTurns } from "#memory/book/jobs-beside-turns.ts";

/** Makes it; `undefined` where memory is switched off, whose records then stay as they are. */
export function tidyMemoryBesideTurns(
  { clock, ids, memory }: Pick<SessionDeps, "clock" | "ids" | "memory">,
  store: BaseStore,
  onError: (error: unknown) => void,
): JobsBesideTurns | undefined {
  if (memory?.enabled === false) return undefined;
  // No text comes in with a mark, so there is nothing to scan.
  const desk = { store, clock, ids, scan: async () => [] };
  const options = { pause: nextTick, limit: MARKS_A_DAY };
  return jobsBesideTurns((owner) => applyLifecycle(desk, { owner }, options), { clock, onError });
}

/** About a second's writes, for which the end of a program may have to wait. Reading does not depend on marks. */
const MARKS_A_DAY = 200;

/** Turns that wait for their own reads and writes go first. */
async function nextTick(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
