/** A LangGraph server's store as a `BaseStore`, through an SDK client. */
import type { Client } from "@langchain/langgraph-sdk";
import type {
  Item,
  ListNamespacesOperation,
  Operation,
  OperationResults,
  SearchItem,
} from "@langchain/langgraph-checkpoint";
import { z } from "zod";
import { DirectStore } from "#memory/stores/direct-store.ts";

/** The calls of the client that are used here. */
export type StoreCalls = Pick<
  Client["store"],
  "getItem" | "putItem" | "deleteItem" | "searchItems" | "listNamespaces"
>;

/** An item as it comes over HTTP, where dates are text. */
const itemSchema = z.object({
  namespace: z.array(z.string()),
  key: z.string(),
  value: z.record(z.string(), z.unknown()),
  createdAt: z.coerce.date(),
  updatedAt: z.coerce.date(),
  score: z.number().nullish(),
});

/** Makes the store; each operation is one request. What the server refuses is thrown as the client throws it. */
export function createClientStore(calls: StoreCalls): DirectStore {
  return new ClientStore(calls);
}

class ClientStore extends DirectStore {
  readonly #calls: StoreCalls;

  constructor(calls: StoreCalls) {
    super();
    this.#calls = calls;
  }

  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const results = await Promise.all(operations.map((operation) => perform(this.#calls, operation)));
    return results as OperationResults<Op>;
  }
}

async function perform(calls: StoreCalls, operation: Operation): Promise<unknown> {
  if ("namespacePrefix" in operation) {
    const { namespacePrefix, ...options } = operation;
    const { items } = await calls.searchItems(namespacePrefix, options);
    return items.map(toItem);
  }
  if ("value" in operation) return put(calls, operation);
  if ("key" in operation) {
    const item = await calls.getItem(operation.namespace, operation.key);
    return item === null ? null : toItem(item);
  }
  return (await calls.listNamespaces(namespaceQuery(operation))).namespaces;
}

type PutOperation = Extract<Operation, { value: unknown }>;

async function put(calls: StoreCalls, { namespace, key, value, index }: PutOperation): Promise<void> {
  if (value === null) await calls.deleteItem(namespace, key);
  else await calls.putItem(namespace, key, value, index === undefined ? {} : { index });
}

function namespaceQuery({ limit, matchConditions = [], maxDepth, offset }: ListNamespacesOperation) {
  const paths = matchConditions.map(({ matchType, path }) => [matchType, path]);
  const depth = maxDepth === undefined ? {} : { maxDepth };
  return { ...Object.fromEntries(paths), limit, offset, ...depth };
}

function toItem(value: unknown): Item | SearchItem {
  const { score, ...item } = itemSchema.parse(value);
  return score === null || score === undefined ? item : { ...item, score };
}
