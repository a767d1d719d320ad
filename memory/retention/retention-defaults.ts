/** How long the facts of each domain are expected to hold: the table of section 6.1 of the memory specification. */
import type { Domain, Stability } from "../record.ts";

const DAY_MS = 86_400_000;

/** One row: null where the specification sets nothing. */
export interface Retention {
  readonly stability: Stability;
  /** Whether a fact may carry an expiry. */
  readonly expiry: "none" | "optional";
  /** A fact that was not confirmed for this long is due for verification. */
  readonly verifyAfterMs: number | null;
  /** A fact that expired this long ago is marked as archived. */
  readonly archiveAfterExpiryMs: number | null;
}

/**
 * The defaults. Persona and rules are verified only when the owner changes them; "scheduled review" of rules is once a year, so that
 * a person is not asked often; a profile half a year after its last confirmation; a task by its own milestones, which
 * are expiry and archive marks.
 */
export const RETENTION: Readonly<Record<Domain, Retention>> = {
  persona_core: { stability: "high", expiry: "none", verifyAfterMs: null, archiveAfterExpiryMs: null },
  working_rules: {
    stability: "high",
    expiry: "none",
    verifyAfterMs: 365 * DAY_MS,
    archiveAfterExpiryMs: null,
  },
  user_profile: {
    stability: "medium_high",
    expiry: "optional",
    verifyAfterMs: 180 * DAY_MS,
    archiveAfterExpiryMs: null,
  },
  task_memory: {
    stability: "medium",
    expiry: "optional",
    verifyAfterMs: null,
    archiveAfterExpiryMs: 30 * DAY_MS,
  },
};
