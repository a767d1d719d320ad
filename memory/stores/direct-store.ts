/** A LangGraph store whose short methods go straight to `batch`, so that its own checks are the only ones. */
import {
  BaseStore,
  type Item,
  type MatchCondition,
  type Operation,
  type OperationResults,
  type SearchItem,
} from "@langchain/langgraph-checkpoint";
import { assertNotReserved } from "./namespace.ts";
import type { OrderedSearch } from "./fact-search.ts";

/** What `search` takes beside the prefix. */
export type SearchOptions = Omit<OrderedSearch, "namespacePrefix">;

/** What `listNamespaces` takes. */
export interface ListNamespacesOptions {
  readonly prefix?: string[];
  readonly suffix?: string[];
  readonly maxDepth?: number;
  readonly limit?: number;
  readonly offset?: number;
}

const DEFAULT_NAMESPACE_LIMIT = 100;

/** `BaseStore` checks namespaces by its own rule first, which refuses `:` in a label; this one leaves that to `batch`. */
export abstract class DirectStore extends BaseStore {
  override async get(namespace: string[], key: string): Promise<Item | null> {
    const [item] = await this.batch([{ namespace, key }]);
    return item ?? null;
  }

  override async search(namespacePrefix: string[], options: SearchOptions = {}): Promise<SearchItem[]> {
    const search: OrderedSearch = { ...options, namespacePrefix };
    const [items] = await this.batch([search]);
    return items ?? [];
  }

  override async put(
    namespace: string[],
    key: string,
    value: Record<string, unknown>,
    index?: false | string[],
  ): Promise<void> {
    assertNotReserved(namespace);
    await this.batch([{ namespace, key, value, ...(index === undefined ? {} : { index }) }]);
  }

  override async delete(namespace: string[], key: string): Promise<void> {
    await this.batch([{ namespace, key, value: null }]);
  }

  override async listNamespaces(options: ListNamespacesOptions = {}): Promise<string[][]> {
    const { prefix, suffix, maxDepth, limit = DEFAULT_NAMESPACE_LIMIT, offset = 0 } = options;
    const matchConditions: MatchCondition[] = [];
    if (prefix !== undefined) matchConditions.push({ matchType: "prefix", path: prefix });
    if (suffix !== undefined) matchConditions.push({ matchType: "suffix", path: suffix });
    const depth = maxDepth === undefined ? {} : { maxDepth };
    const [namespaces] = await this.batch([{ matchConditions, limit, offset, ...depth }]);
    return namespaces ?? [];
  }
}

/** Runs a batch of operations. */
export type RunBatch = <Op extends Operation[]>(operations: Op) => Promise<OperationResults<Op>>;

/** A view of another store: every operation goes through one function, which may refuse it. */
export class StoreView extends DirectStore {
  readonly #run: RunBatch;

  constructor(run: RunBatch) {
    super();
    this.#run = run;
  }

  override batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    return this.#run(operations);
  }
}
