/** A place where something of a person is kept: how an erasure finds it there, and how it takes it away. */
import type { BaseCheckpointSaver, BaseStore } from "@langchain/langgraph-checkpoint";
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

/** What an erasure works with. */
export interface ErasureDeps {
  readonly storage: Pick<StorageBackend, "erasure" | "fencedStore" | "locks" | "store"> & {
    readonly checkpointer: Pick<BaseCheckpointSaver, "deleteThread" | "list">;
  };
  readonly clock: Clock;
  readonly ids: Ids;
  /** Threads of an owner, or of one key of theirs, also of no chain; absent where nobody else makes any. */
  readonly threadsOf?: (owner: string, sessionKey: string | undefined) => Promise<readonly string[]>;
  /** The store is that of a LangGraph server. */
  readonly servesLangGraph?: boolean;
  /** Absent where nobody types. */
  readonly typed?: TypedLines;
  /** How many API keys open the data of an owner; absent where there are none. */
  readonly apiKeys?: (owner: string) => number;
  /** Longest wait for another turn on each key, in milliseconds. */
  readonly keyWaitMs?: number;
}

/** Something that was found: an item of the Store, or what a place knows by its `key`. */
export interface Found {
  /** The conversation whose lock is held while it is erased; absent for what belongs to none. */
  readonly sessionKey?: string | undefined;
  readonly namespace: readonly string[];
  readonly key: string;
  readonly value?: unknown;
  /** How many things it counts as; 1 by default. */
  readonly count?: number;
  /** Sessions whose checkpoints may hold it. */
  readonly sessionIds?: readonly string[];
}

/** What is looked for. */
export interface Search {
  readonly deps: ErasureDeps;
  readonly owner: string;
  /** One conversation alone, with everything in it. */
  readonly sessionKey?: string | undefined;
  /** What says it; of everything that is there where all is to go. */
  readonly says: Says;
  /** All of a person or key goes, and nothing is left to be verified; else what says a text goes, and marks stay. */
  readonly isWhole: boolean;
  /** What the places before have found, by their names. */
  readonly found: ReadonlyMap<string, readonly Found[]>;
}

export interface Erasure extends Search {
  /** The text, where one is erased. */
  readonly text?: string | undefined;
  /** ISO instant of the erasure. */
  readonly at: string;
  /** The Store under the lease of a key, or under any for what belongs to none: whoever woke up late must not erase. */
  readonly storeFor: (sessionKey?: string) => BaseStore;
}

export interface Place {
  /** As receipts and previews call it. */
  readonly name: string;
  /** First label of its namespaces in the Store; absent where it is not there. */
  readonly root?: string;
  /** What persons and models said: one of it and many of it in words. What says a text in part here stays and is told of. */
  readonly said?: readonly [one: string, many: string];
  /** Why this erasure leaves it alone; then it is not searched. */
  leaves?(search: Search): string | undefined;
  /** What is found here stays while a turn runs on any conversation that says it, and why. */
  readonly waitsForAll?: string;
  /** What a receipt adds to the count of what was erased of a text. */
  readonly note?: string;
  /** Finds it. Changes nothing. */
  find(search: Search): Promise<readonly Found[]>;
  /** Erases it, twice as once. @returns how much is gone, or in words why some of it is not */
  erase(found: readonly Found[], erasure: Erasure): Promise<number | string>;
}

/** A place of ids and names alone: it goes with a person or a conversation, and stays when a text is erased. */
export const withoutText =
  (why: string) =>
  ({ isWhole }: Search): string | undefined =>
    isWhole ? undefined : why;

/** How many things were found. */
export function countOf(found: readonly Found[] = []): number {
  return found.reduce((sum, { count = 1 }) => sum + count, 0);
}
