/** A storage whose store refuses some writes while it is armed: before them, or after they were made. */
import { BaseStore, type Operation, type OperationResults } from "@langchain/langgraph-checkpoint";
import { LilyError } from "#src/kernel/errors.ts";
import type { StorageBackend } from "#src/storage/backend.ts";

/** Which puts fail, by namespace and key. */
export type PutFilter = (namespace: readonly string[], key: string) => boolean;

/** Switches for a failing store. */
export interface FailingPuts {
  wrap(storage: StorageBackend): StorageBackend;
  /** `before`: the write is not made. `after`: it is made, and reported as failed. */
  arm(when?: "before" | "after"): void;
  disarm(): void;
}

/** Makes the switches. */
export function failingPuts(fails: PutFilter): FailingPuts {
  let armed: "before" | "after" | undefined;
  const hit = (operations: readonly Operation[]): boolean =>
    operations.some((operation) => "value" in operation && fails(operation.namespace, operation.key));
  class FailingStore extends BaseStore {
    readonly #inner: BaseStore;
    constructor(inner: BaseStore) {
      super();
      this.#inner = inner;
    }
    override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
      const failing = armed !== undefined && hit(operations);
      if (failing && armed === "before")
        throw new LilyError("storage_full", "the disk is full", { next: "Free space." });
      const results = await this.#inner.batch(operations);
      if (failing) throw new LilyError("storage_failed", "the connection was lost after the write");
      return results;
    }
    override get(namespace: string[], key: string) {
      return this.#inner.get(namespace, key);
    }
    override search(prefix: string[], options?: Parameters<BaseStore["search"]>[1]) {
      return this.#inner.search(prefix, options);
    }
    override async put(
      namespace: string[],
      key: string,
      value: Record<string, unknown>,
      index?: false | string[],
    ) {
      await this.batch([{ namespace, key, value, ...(index === undefined ? {} : { index }) }]);
    }
  }
  return {
    wrap: (storage) => ({
      ...storage,
      store: new FailingStore(storage.store),
      fencedStore: (lease) => new FailingStore(storage.fencedStore(lease)),
      close: () => storage.close(),
    }),
    arm(when = "before") {
      armed = when;
    },
    disarm() {
      armed = undefined;
    },
  };
}
