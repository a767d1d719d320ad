/** A view of a store that asks it once for all that is asked in one go. */
import type {
  BaseStore,
  Item,
  Operation,
  OperationResults,
  SearchItem,
} from "@langchain/langgraph-checkpoint";
import { DirectStore, type SearchOptions } from "./direct-store.ts";
import type { OrderedSearch } from "./fact-search.ts";

interface Waiting {
  readonly operation: Operation;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/**
 * `store`, whose `get` and `search` are put into one `batch` until nothing more is ready to ask: one transaction, and one
 * state of the data, where there were several: if one of them fails, all do. Writes go to it as they come. A store that
 * does the same by itself, as LangGraph gives it to nodes on a server, is given back.
 */
export function gatherReads(store: BaseStore): BaseStore {
  return "lg_name" in store && store.lg_name === "AsyncBatchedStore" ? store : new GatheringStore(store);
}

class GatheringStore extends DirectStore {
  readonly #store: BaseStore;
  #waiting: Waiting[] = [];

  constructor(store: BaseStore) {
    super();
    this.#store = store;
  }

  override batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    return this.#store.batch(operations);
  }

  override get(namespace: string[], key: string): Promise<Item | null> {
    return this.#ask({ namespace, key });
  }

  override search(namespacePrefix: string[], options: SearchOptions = {}): Promise<SearchItem[]> {
    const search: OrderedSearch = { limit: 10, offset: 0, ...options, namespacePrefix };
    return this.#ask(search);
  }

  override put(...parts: Parameters<DirectStore["put"]>): Promise<void> {
    return this.#store.put(...parts);
  }

  override delete(...parts: Parameters<DirectStore["delete"]>): Promise<void> {
    return this.#store.delete(...parts);
  }

  #ask<T>(operation: Operation): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ operation, resolve: (result) => resolve(result as T), reject });
      // After every promise that is settled by now has run on: what they ask comes along.
      if (this.#waiting.length === 1) process.nextTick(() => void this.#flush());
    });
  }

  async #flush(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    try {
      const results: readonly unknown[] = await this.#store.batch(waiting.map(({ operation }) => operation));
      for (const [index, { resolve }] of waiting.entries()) resolve(results[index]);
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }
}
