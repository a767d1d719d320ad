/** What an erasure works with. */
import type { Clock } from "#src/kernel/clock.ts";
import type { Ids } from "#src/kernel/ids.ts";
import type { StorageBackend } from "#src/storage/backend.ts";
import type { Says } from "./says.ts";

/** Lines that a person has typed at this machine, in files and in the terminal that is open. */
export interface TypedLines {
  /** Whose terminal it is. */
  readonly owner: string;
  /** How many lines say it. Changes nothing. */
  count(says: Says): number;
  /** Removes the lines that say it; how many. */
  erase(says: Says): number;
}

/** Dependencies of the coordinator. */
export interface ErasureDeps {
  readonly storage: Pick<
    StorageBackend,
    "erasure" | "fencedStore" | "fillVectors" | "locks" | "name" | "store"
  > & { readonly checkpointer: Pick<StorageBackend["checkpointer"], "deleteThread" | "getTuple" | "list"> };
  /** Threads of an owner, those of no chain too; absent where nobody else makes any. */
  readonly threadsOf?: (owner: string) => Promise<readonly string[]>;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Absent where nobody types. */
  readonly typed?: TypedLines;
  /** How many API keys open the data of an owner; absent where there are none. */
  readonly apiKeys?: (owner: string) => number;
  /** Longest wait for another turn on each key, in milliseconds. */
  readonly keyWaitMs?: number;
}
