/** Long-term memory as commands reach it: whose it is, and from where a write comes, is settled by the run. */
import type { MemoryBook } from "#memory/book/memory-book.ts";
import type { Who } from "#memory/book/types.ts";
import type { PolicyDenial } from "#memory/policy/verdict.ts";

/** The memory of the owner who gives the command. */
export interface CommandMemory {
  readonly book: MemoryBook;
  readonly who: Who;
  /** What the policy has against a text of the owner, or a name; `undefined` when it may be remembered. Stores nothing. */
  readonly denial: (
    text: string,
    options?: { readonly isName?: boolean },
  ) => Promise<PolicyDenial | undefined>;
}
