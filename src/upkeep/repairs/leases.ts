/** Gives back leases whose holder is gone or did not renew them. */
import type { Database } from "better-sqlite3";
import { retryBusy } from "#memory/stores/sqlite/retry-busy.ts";
import type { Clock } from "#src/kernel/clock.ts";
import { counted } from "../check.ts";
import { leaseStatesIn } from "../lease-rows.ts";
import { done, type Outcome } from "./outcome.ts";

// Only if it is still that grant, unrenewed. The row stays: its token must never be given again.
const GIVE_BACK = "UPDATE leases SET expires_at = 0 WHERE name = ? AND token = ? AND expires_at = ?";

/** Gives the leases back. */
export async function giveBackLeases(store: Database, clock: Clock): Promise<Outcome> {
  const { dead, runOut } = leaseStatesIn(store, clock.now());
  let given = 0;
  for (const { name, token, expires_at: expiresAt } of [...dead, ...runOut]) {
    const work = (): number => store.prepare(GIVE_BACK).run(name, token, expiresAt).changes;
    given += await retryBusy(work, { file: store.name });
  }
  return given === 0 ? undefined : done(`gave back ${counted(given, "lease")}`);
}
