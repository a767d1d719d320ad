/** The one refusal that both locks give to a holder that is no longer the newest. */
import { LilyError } from "#src/kernel/errors.ts";
import type { LeaseRef } from "./backend.ts";

/** The error for a write or a renewal under `ref` while the newest grant is `newest` (`undefined`: there is none). */
export function leaseLost(ref: LeaseRef, newest: number | undefined): LilyError {
  const current = newest === undefined ? "it was never granted" : `the newest is ${newest}`;
  return new LilyError("lease_lost", `lease ${ref.token} of ${JSON.stringify(ref.lockName)} is over: ${current}`, {
    next: "Nothing was written; send the message again.",
  });
}
