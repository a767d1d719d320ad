/** Runs one test of the contract against a fresh store and closes it. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import type { MakeStore, StoreFixture } from "./traits.ts";

/** The body of a test that is given a fresh store. */
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
