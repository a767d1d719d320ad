/** Checks who holds leases, and whether they still run. */
import { counted, fine, someOf, warning, type Check } from "../check.ts";
import { leaseStatesIn } from "../lease-rows.ts";
import type { ReadableDatabase } from "./database-file.ts";

/** The row of the leases of a store file. */
export function checkLeases(db: ReadableDatabase, now: number): Check {
  const { live, dead, runOut } = leaseStatesIn(db, now);
  const holders = live.map(({ pid }) => `process ${pid}`);
  const held = `${counted(live.length, "lease")} held${holders.length === 0 ? "" : ` by ${someOf([...new Set(holders)])}`}`;
  if (dead.length === 0 && runOut.length === 0) return fine("leases", held);
  return warning(
    "leases",
    `${held}; ${dead.length} of processes that are gone, ${runOut.length} run out`,
    "Nobody has to wait for these: the next turn takes them over. lily doctor --repair gives them back.",
  );
}
