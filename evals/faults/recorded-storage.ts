/** A storage whose every call passes a gate. */
import type { BaseStore, Operation } from "@langchain/langgraph-checkpoint";
import { StoreView } from "#memory/stores/atomic-store.ts";
import type { SessionSaver, StorageBackend } from "#src/storage/backend.ts";
import type { Gate } from "./gate.ts";

/** `storage` with every call of the store, checkpointer, locks and retention as a point of `gate`. */
export function recordStorage(storage: StorageBackend, gate: Gate): StorageBackend {
  return {
    ...storage,
    checkpointer: recordCheckpointer(storage.checkpointer, gate),
    store: recordStore(storage.store, gate),
    fencedStore: (lease) => recordStore(storage.fencedStore(lease), gate),
    locks: {
      holder: (name) => storage.locks.holder(name),
      async acquire(name, options) {
        const lease = await gate.pass("lock.acquire", () => storage.locks.acquire(name, options));
        return { ...lease, release: () => gate.pass("lock.release", () => lease.release()) };
      },
    },
    close: () => storage.close(),
  };
}

function recordStore(store: BaseStore, gate: Gate): BaseStore {
  return new StoreView((operations) =>
    gate.pass(`store.${[...new Set(operations.map(nameOf))].join(" + ")}`, () => store.batch(operations)),
  );
}

/** `put history`, `get sessions`, `search history`. */
function nameOf(operation: Operation): string {
  if ("namespacePrefix" in operation) return `search ${operation.namespacePrefix[0] ?? "all"}`;
  if ("matchConditions" in operation || !("namespace" in operation)) return "listNamespaces";
  const [label = "all"] = operation.namespace;
  if (!("value" in operation)) return `get ${label}`;
  return operation.value === null ? `delete ${label}` : `put ${label}`;
}

const CALLS = new Set<string | symbol>(["getTuple", "put", "putWrites", "deleteThread", "retain"]);

/** A view by proxy: whatever else the checkpointer has goes through untouched. */
function recordCheckpointer(saver: SessionSaver, gate: Gate): SessionSaver {
  return new Proxy(saver, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== "function") return value;
      const bound = (...args: unknown[]): unknown => Reflect.apply(value, target, args);
      return CALLS.has(property)
        ? (...args: unknown[]) => gate.pass(`checkpoints.${String(property)}`, () => bound(...args))
        : bound;
    },
  });
}
