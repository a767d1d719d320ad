/** What a store under contract is, and how one test is run against a fresh one. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";

/** A fresh, empty store. */
export interface StoreFixture {
  readonly store: BaseStore;
  /** Lets at least a millisecond pass on the store's clock. */
  tick(): void | Promise<void>;
  close(): void | Promise<void>;
}

/** Makes a fresh store for each test. */
export type MakeStore = () => StoreFixture;

/** The body of a test that is given a fresh store, which is closed behind it. */
export function withStore(
  makeStore: MakeStore,
  body: (store: BaseStore, fixture: StoreFixture) => Promise<void>,
): () => Promise<void> {
  return async () => {
    const fixture = makeStore();
    try {
      await body(fixture.store, fixture);
    } finally {
      await fixture.close();
    }
  };
}

/** Keys of items, in their order. */
export function keysOf(items: readonly { readonly key: string }[]): string[] {
  return items.map((item) => item.key);
}
