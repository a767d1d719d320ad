import { describeStoreContract } from "#memory/stores/contract.ts";
import { createManualClock } from "#src/kernel/clock.ts";
import { MemoryStore } from "./memory-store.ts";

describeStoreContract(
  "MemoryStore",
  () => {
    const clock = createManualClock(1_700_000_000_000);
    return { store: new MemoryStore(clock), tick: () => clock.advance(1), close: () => {} };
  },
  {
    namespaceError: { name: "LilyError", code: "namespace_invalid" },
    keepsCopies: true,
    allowsColons: false,
    refusesIllFormedIds: true,
    findsWords: false,
    refusesUnknownOperators: true,
    listsEmptyNamespaces: true,
  },
);
