/** The one refusal that both locks give to a holder that is no longer the newest. */
import { LilyError } from "#src/kernel/errors.ts";
import type { LeaseRef } from "./backend.ts";

/** The error for a holder of `ref` whose lease is over; `why` ends the sentence. */
export function leaseLost(ref: LeaseRef, why: string): LilyError {
  return new LilyError(
    "lease_lost",
    `lease ${ref.token} of ${JSON.stringify(ref.lockName)} is over: ${why}`,
    {
      next: "Nothing was written; send the message again.",
    },
  );
}

/** @throws {LilyError} `lease_lost` unless `newest`, the token of the newest grant, is that of `ref` */
export function assertNewest(ref: LeaseRef, newest: number | undefined): void {
  if (newest === ref.token) return;
  throw leaseLost(
    ref,
    newest === undefined ? "it was never granted" : `lease ${newest} was granted after it`,
  );
}
