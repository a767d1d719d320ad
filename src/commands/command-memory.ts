/** Long-term memory as commands reach it: whose it is, and from where a write comes, is settled by the run. */
import type { FactStore } from "#memory/facts/fact-store.ts";
import type { Who } from "#memory/facts/types.ts";
import type { PolicyDenial } from "#memory/policy/verdict.ts";

/** The memory of the owner who gives the command. */
export interface CommandMemory {
  readonly facts: FactStore;
  readonly who: Who;
  /** What the policy has against a text of the owner, or a name; `undefined` when it may be remembered. Stores nothing. */
  readonly denial: (
    text: string,
    options?: { readonly isName?: boolean },
  ) => Promise<PolicyDenial | undefined>;
}
