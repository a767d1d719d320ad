/** A batch of LangGraph store operations, checked and put in the order in which every store runs it. */
import { LilyError } from "#src/kernel/errors.ts";
import type {
  GetOperation,
  Item,
  ListNamespacesOperation,
  Operation,
  PutOperation,
  SearchItem,
  SearchOperation,
} from "@langchain/langgraph-checkpoint";
import { assertJson } from "#src/kernel/json.ts";
import type { IndexFields } from "./index-fields.ts";
import { assertKey, assertNamespace, encodePath, type Namespace } from "./namespace.ts";
import type { NamespaceQuery } from "./namespace-list.ts";

/** A checked `search`. */
export interface SearchQuery {
  readonly prefix: Namespace;
  readonly filter: Filter | undefined;
  /** `undefined` lists; text without words finds nothing. */
  readonly query: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** Names one item. */
export interface ItemRef {
  /** The namespace as {@link encodePath} writes it. */
  readonly path: string;
  readonly key: string;
}

/** A checked `put`, or a deletion when `json` is null. */
export interface ItemChange extends ItemRef {
  readonly namespace: Namespace;
  readonly json: string | null;
  /** `undefined`: what the store indexes by default. */
  readonly index: IndexFields | undefined;
}

/** What a store has to be able to do, at once or later; the rest is the same in each. */
export interface StoreEngine {
  get(ref: ItemRef): Item | null | Promise<Item | null>;
  search(query: SearchQuery): SearchItem[] | Promise<SearchItem[]>;
  listNamespaces(query: NamespaceQuery): string[][] | Promise<string[][]>;
  change(change: ItemChange): void | Promise<void>;
}

/** A batch that was checked as a whole, so that it is run as a whole or not at all. */
export interface BatchPlan {
  /** One an operation, in the order of the operations; a change answers null, as upstream does. */
  readonly reads: readonly ((engine: StoreEngine) => unknown)[];
  /** One an item: of several changes to the same item the last one counts. */
  readonly changes: readonly ItemChange[];
}

const DEFAULT_SEARCH_LIMIT = 10;

/**
 * Checks a batch.
 *
 * @throws {InvalidNamespaceError} or {@link LilyError} `namespace_invalid` for namespaces and keys; `value_not_json` for
 *   values, `internal` for filters
 */
export function planBatch(operations: readonly Operation[]): BatchPlan {
  const changes = new Map<string, ItemChange>();
  const reads = operations.map((operation) => {
    if ("namespacePrefix" in operation) return searchRead(operation);
    if ("value" in operation) {
      const change = planChange(operation);
      changes.set(`${change.path}\u0000${change.key}`, change);
      return () => null;
    }
    return "key" in operation ? getRead(operation) : listRead(operation);
  });
  return { reads, changes: [...changes.values()] };
}

/** Runs a checked batch on an engine that does all at once: every read sees the state before the changes, as in `InMemoryStore`. */
export function runBatch(engine: StoreEngine, plan: BatchPlan): unknown[] {
  const results = plan.reads.map((read) => read(engine));
  for (const change of plan.changes) void engine.change(change);
  return results;
}

function getRead(operation: GetOperation): (engine: StoreEngine) => unknown {
  const ref = refOf(operation);
  return (engine) => engine.get(ref);
}

function searchRead(operation: SearchOperation): (engine: StoreEngine) => unknown {
  assertNamespace(operation.namespacePrefix, { allowEmpty: true });
  const query: SearchQuery = {
    prefix: operation.namespacePrefix,
    filter: operation.filter === undefined ? undefined : compileFilter(operation.filter),
    query: operation.query ?? undefined,
    limit: count(operation.limit ?? DEFAULT_SEARCH_LIMIT),
    offset: count(operation.offset ?? 0),
  };
  return (engine) => engine.search(query);
}

function listRead(operation: ListNamespacesOperation): (engine: StoreEngine) => unknown {
  const conditions = operation.matchConditions ?? [];
  for (const { path } of conditions) assertNamespace(path, { allowEmpty: true });
  const query: NamespaceQuery = {
    conditions,
    maxDepth: operation.maxDepth === undefined ? undefined : count(operation.maxDepth),
    limit: count(operation.limit ?? Infinity),
    offset: count(operation.offset ?? 0),
  };
  return (engine) => engine.listNamespaces(query);
}

function planChange(operation: PutOperation): ItemChange {
  const ref = refOf(operation);
  return {
    ...ref,
    namespace: operation.namespace,
    json: jsonOf(operation.value),
    index: operation.index ?? undefined,
  };
}

function refOf({ namespace, key }: { readonly namespace: Namespace; readonly key: string }): ItemRef {
  assertNamespace(namespace);
  assertKey(key);
  return { path: encodePath(namespace), key };
}

function jsonOf(value: unknown): string | null {
  if (value === null) return null;
  if (typeof value !== "object" || Array.isArray(value)) {
    throw new LilyError("value_not_json", "a stored value is a JSON object", {
      next: "Wrap it in an object.",
    });
  }
  assertJson(value);
  return JSON.stringify(value);
}

/** A number of rows that SQLite takes: whole, not negative, and `Infinity` as a number no table reaches. */
function count(value: number): number {
  return Math.min(Math.max(Math.trunc(value) || 0, 0), Number.MAX_SAFE_INTEGER);
}

/** A filter that was checked: tells whether a value fulfils every condition. */
export type Filter = (value: Readonly<Record<string, unknown>>) => boolean;

type Test = (item: unknown) => boolean;

const OPERATORS: Readonly<Record<string, (wanted: unknown) => Test>> = {
  $eq: (wanted) => (item) => item === wanted,
  $ne: (wanted) => (item) => item !== wanted,
  $gt: (wanted) => (item) => numeric(item) > numeric(wanted),
  $gte: (wanted) => (item) => numeric(item) >= numeric(wanted),
  $lt: (wanted) => (item) => numeric(item) < numeric(wanted),
  $lte: (wanted) => (item) => numeric(item) <= numeric(wanted),
  $in: (wanted) => (item) => Array.isArray(wanted) && wanted.includes(item),
  $nin: (wanted) => (item) => !Array.isArray(wanted) || !wanted.includes(item),
};

/**
 * Compiles a filter. A plain value means equality of primitives: objects and arrays are equal to nothing. Several
 * operators on a field all have to hold. `$gt`, `$gte`, `$lt` and `$lte` compare as numbers, so text that is no
 * number compares as false. A field that is absent is `undefined`.
 *
 * @throws {LilyError} `internal` for an operator that does not exist: such a filter is a mistake in a program.
 */
function compileFilter(filter: Readonly<Record<string, unknown>>): Filter {
  const tests = Object.entries(filter).map(([field, condition]) => ({
    field,
    test: testOf(field, condition),
  }));
  return (value) =>
    tests.every(({ field, test }) => test(Object.hasOwn(value, field) ? value[field] : undefined));
}

function testOf(field: string, condition: unknown): Test {
  if (!isOperators(condition)) return (item) => item === condition;
  const tests = Object.entries(condition).map(([name, wanted]) => {
    const operator = Object.hasOwn(OPERATORS, name) ? OPERATORS[name] : undefined;
    if (operator === undefined) throw unknownOperator(field, name);
    return operator(wanted);
  });
  return (item) => tests.every((test) => test(item));
}

function isOperators(condition: unknown): condition is Record<string, unknown> {
  if (typeof condition !== "object" || condition === null || Array.isArray(condition)) return false;
  const names = Object.keys(condition);
  return names.length === 0 || names.some((name) => name.startsWith("$"));
}

// Number({}) calls methods that stored data may have named; nothing is lost by not comparing objects.
function numeric(value: unknown): number {
  return typeof value === "object" && value !== null ? Number.NaN : Number(value);
}

function unknownOperator(field: string, name: string): LilyError {
  return new LilyError(
    "internal",
    `the filter on ${JSON.stringify(field)} uses ${name}, which is no operator`,
    {
      next: `Use one of ${Object.keys(OPERATORS).join(", ")}.`,
    },
  );
}
