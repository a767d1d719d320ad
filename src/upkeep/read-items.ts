/** Reads all items under a prefix of a store, a page at a time. */
import type { BaseStore, SearchItem } from "@langchain/langgraph-checkpoint";

const PAGE = 500;

/** Items at and below `prefix` in the store's own order. */
export async function* itemsUnder(store: BaseStore, prefix: readonly string[]): AsyncGenerator<SearchItem> {
  for (let offset = 0; ; offset += PAGE) {
    const page = await store.search([...prefix], { limit: PAGE, offset });
    // Some stores take a prefix for one of characters.
    yield* page.filter(({ namespace }) => prefix.every((label, index) => namespace[index] === label));
    if (page.length < PAGE) return;
  }
}
