/** A backend that forgets everything when the process ends: for tests, tries and evaluations. */
import { MemorySaver } from "@langchain/langgraph-checkpoint";
import type { Clock } from "#src/kernel/clock.ts";
import type { StorageBackend } from "../backend.ts";
import { StateSerde } from "../checkpoints/state-serde.ts";
import { createMemoryKeyLock } from "./memory-key-lock.ts";
import { createMemoryRetention } from "./memory-retention.ts";
import { MemoryStore } from "./memory-store.ts";

/** Makes an empty backend; `clock` dates the items. Its search lists and does not rank, its leases do not run out. */
export function createMemoryBackend({ clock }: { readonly clock: Clock }): StorageBackend {
  const checkpointer = new MemorySaver(new StateSerde());
  const store = new MemoryStore(clock);
  const locks = createMemoryKeyLock();
  return {
    name: "memory",
    location: "this process (nothing is kept)",
    checkpointer,
    async persist() {},
    store,
    locks,
    retention: createMemoryRetention(checkpointer),
    fencedStore: (lease) => store.withGuard(() => locks.assertHeld(lease)),
    async close() {},
  };
}
