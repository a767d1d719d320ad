/** Checks for checkpoints that nothing leads to. */
import { counted, fine, warning, type Check } from "../check.ts";
import { findOrphans, type OrphanFacts } from "../checkpoint-orphans.ts";
import type { ReadableDatabase } from "./database-file.ts";

/** The row of what is left over in a checkpoint file. */
export function checkOrphans(db: ReadableDatabase, facts: OrphanFacts): Check {
  const { threads, writes } = findOrphans(db, facts);
  const checkpoints = threads.reduce((sum, thread) => sum + thread.checkpoints, 0);
  if (threads.length === 0 && writes === 0)
    return fine("leftovers", "every checkpoint belongs to a session, every write to a checkpoint");
  return warning(
    "leftovers",
    `${counted(checkpoints, "checkpoint")} of ${counted(threads.length, "thread")} that are no session, ${counted(writes, "write")} without checkpoint`,
    "They take space and do no harm; lily doctor --repair removes them.",
  );
}
