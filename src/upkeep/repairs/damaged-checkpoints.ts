/** Removes checkpoints that cannot be read, with what was written after them. */
import type { Database } from "better-sqlite3";
import { retryBusy } from "#memory/stores/sqlite/retry-busy.ts";
import { counted } from "../check.ts";
import { findDamagedCheckpoints, type DamagedCheckpoint } from "../checks/damaged-checkpoints.ts";
import { done, type Outcome } from "./outcome.ts";

const DELETE_WRITES = `DELETE FROM writes WHERE (thread_id, checkpoint_ns, checkpoint_id) IN (
  SELECT thread_id, checkpoint_ns, checkpoint_id FROM checkpoints WHERE rowid = @rowid AND checkpoint_id = @id)`;
// By both: a row that was pruned meanwhile may have left its number to a newer one.
const DELETE = "DELETE FROM checkpoints WHERE rowid = @rowid AND checkpoint_id = @id";

/** Removes them, each in a transaction of its own. */
export async function removeDamagedCheckpoints(checkpoints: Database): Promise<Outcome> {
  const { damaged } = findDamagedCheckpoints(checkpoints);
  if (damaged.length === 0) return undefined;
  const remove = checkpoints.transaction((row: DamagedCheckpoint) => {
    checkpoints.prepare(DELETE_WRITES).run(row);
    checkpoints.prepare(DELETE).run(row);
  });
  for (const row of damaged) await retryBusy(() => remove.immediate(row), { file: checkpoints.name });
  return done(`removed ${counted(damaged.length, "checkpoint")} that could not be read`);
}
