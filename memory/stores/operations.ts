/** Store operations as every store runs them: a batch is checked as a whole, and a namespace is a text of which a prefix is a range. */
import {
  validateNamespace,
  type GetOperation,
  type Item,
  type ListNamespacesOperation,
  type MatchCondition,
  type Operation,
  type PutOperation,
  type SearchItem,
  type SearchOperation,
} from "@langchain/langgraph-checkpoint";
import { LilyError } from "#src/kernel/errors.ts";
import { assertJson } from "#src/kernel/json.ts";
import type { IndexFields } from "./index-fields.ts";

/** Labels from the root down. */
export type Namespace = readonly string[];

/** A checked `listNamespaces` call. */
export interface NamespaceQuery {
  /** All of them have to hold; `*` in a path stands for any one label. */
  readonly conditions: readonly MatchCondition[];
  /** Deeper namespaces are cut to this many labels and given once. */
  readonly maxDepth: number | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** A checked `search`. */
export interface SearchQuery {
  /** The prefix as {@link encodePath} writes it; empty for everything. */
  readonly path: string;
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

/** What a store has to be able to read, at once or later; the rest is the same in each. */
export interface StoreReads {
  get(ref: ItemRef): Item | null | Promise<Item | null>;
  search(query: SearchQuery): SearchItem[] | Promise<SearchItem[]>;
  listNamespaces(query: NamespaceQuery): string[][] | Promise<string[][]>;
}

/** A batch that was checked as a whole, so that it is run as a whole or not at all. */
export interface BatchPlan {
  /** One an operation, in the order of the operations, to be done before any change; a change answers null, as upstream does. */
  readonly reads: readonly ((store: StoreReads) => unknown)[];
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
  const reads = operations.map((operation): ((store: StoreReads) => unknown) => {
    if ("namespacePrefix" in operation) {
      const search = searchOf(operation);
      return (store) => store.search(search);
    }
    if ("value" in operation) {
      const change = changeOf(operation);
      changes.set(`${change.path}\u0000${change.key}`, change);
      return () => null;
    }
    if ("key" in operation) {
      const ref = refOf(operation);
      return (store) => store.get(ref);
    }
    const list = listOf(operation);
    return (store) => store.listNamespaces(list);
  });
  return { reads, changes: inOrder([...changes.values()]) };
}

/** Deletions from namespaces that get nothing come first: what is put takes their room, as a record that of its turn in flight. */
function inOrder(changes: readonly ItemChange[]): ItemChange[] {
  const filled = new Set(changes.flatMap(({ path, json }) => (json === null ? [] : [path])));
  const isFirst = ({ path }: ItemChange): boolean => !filled.has(path);
  return [...changes.filter(isFirst), ...changes.filter((change) => !isFirst(change))];
}

function searchOf({ namespacePrefix, filter, query, limit, offset }: SearchOperation): SearchQuery {
  assertNamespace(namespacePrefix, { allowEmpty: true });
  return {
    path: encodePath(namespacePrefix),
    filter: filter === undefined ? undefined : compileFilter(filter),
    query: query ?? undefined,
    limit: count(limit ?? DEFAULT_SEARCH_LIMIT),
    offset: count(offset ?? 0),
  };
}

function listOf({ matchConditions = [], maxDepth, limit, offset }: ListNamespacesOperation): NamespaceQuery {
  for (const { path } of matchConditions) assertNamespace(path, { allowEmpty: true });
  return {
    conditions: matchConditions,
    maxDepth: maxDepth === undefined ? undefined : count(maxDepth),
    limit: count(limit ?? Infinity),
    offset: count(offset ?? 0),
  };
}

function changeOf(operation: PutOperation): ItemChange {
  const { namespace, value, index } = operation;
  return { ...refOf(operation), namespace, json: jsonOf(value), index: index ?? undefined };
}

function refOf({ namespace, key }: Pick<GetOperation, "namespace" | "key">): ItemRef {
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

/** A number of rows that databases take: whole, not negative, and `Infinity` as a number no table reaches. */
function count(value: number): number {
  return Math.min(Math.max(Math.trunc(value) || 0, 0), Number.MAX_SAFE_INTEGER);
}

/** A filter that was checked: tells whether a value fulfils every condition. */
export type Filter = (value: Readonly<Record<string, unknown>>) => boolean;

type Operator = (item: unknown, wanted: unknown) => boolean;

const isEqual: Operator = (item, wanted) => item === wanted;

const OPERATORS: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ["$eq", isEqual],
  ["$ne", (item, wanted) => item !== wanted],
  ["$gt", (item, wanted) => numeric(item) > numeric(wanted)],
  ["$gte", (item, wanted) => numeric(item) >= numeric(wanted)],
  ["$lt", (item, wanted) => numeric(item) < numeric(wanted)],
  ["$lte", (item, wanted) => numeric(item) <= numeric(wanted)],
  ["$in", (item, wanted) => Array.isArray(wanted) && wanted.includes(item)],
  ["$nin", (item, wanted) => !Array.isArray(wanted) || !wanted.includes(item)],
]);

// Number({}) calls methods that stored data may have named; nothing is lost by not comparing objects.
function numeric(value: unknown): number {
  return typeof value === "object" && value !== null ? Number.NaN : Number(value);
}

/**
 * Compiles a filter. A plain value means equality of primitives: objects and arrays are equal to nothing. Several
 * operators on a field all have to hold. `$gt`, `$gte`, `$lt` and `$lte` compare as numbers, so text that is no
 * number compares as false. A field that is absent is `undefined`.
 *
 * @throws {LilyError} `internal` for an operator that does not exist: such a filter is a mistake in a program.
 */
function compileFilter(filter: Readonly<Record<string, unknown>>): Filter {
  const tests = Object.entries(filter).flatMap(([field, condition]) => {
    if (!isOperators(condition)) return [{ field, test: isEqual, wanted: condition }];
    return Object.entries(condition).map(([name, wanted]) => ({
      field,
      test: operatorOf(name, field),
      wanted,
    }));
  });
  return (value) =>
    tests.every(({ field, test, wanted }) =>
      test(Object.hasOwn(value, field) ? value[field] : undefined, wanted),
    );
}

function operatorOf(name: string, field: string): Operator {
  const operator = OPERATORS.get(name);
  if (operator !== undefined) return operator;
  const problem = `the filter on ${JSON.stringify(field)} uses ${name}, which is no operator`;
  throw new LilyError("internal", problem, { next: `Use one of ${[...OPERATORS.keys()].join(", ")}.` });
}

function isOperators(condition: unknown): condition is Record<string, unknown> {
  if (typeof condition !== "object" || condition === null || Array.isArray(condition)) return false;
  const names = Object.keys(condition);
  return names.length === 0 || names.some((name) => name.startsWith("$"));
}

/**
 * Refuses what LangGraph refuses (labels that are empty, not text, or hold `.`, `:` or NUL), and half of a surrogate pair,
 * which would not come back from the disk as it was; and the empty namespace, unless it is allowed (a search over
 * everything).
 *
 * @throws {InvalidNamespaceError} as LangGraph does
 * @throws {LilyError} `namespace_invalid` for half of a surrogate pair
 */
function assertNamespace(namespace: Namespace, { allowEmpty = false } = {}): void {
  validateNamespace([...namespace], { allowEmpty, allowReservedRoot: true });
  const broken = namespace.find((label) => !label.isWellFormed());
  if (broken !== undefined)
    throw invalid(`the label ${JSON.stringify(broken)} holds half of a surrogate pair`);
}

/**
 * Refuses keys that are not text, or hold NUL or half of a surrogate pair: two of those could become one on disk.
 *
 * @throws {LilyError} `namespace_invalid`
 */
function assertKey(key: string): void {
  if (typeof key !== "string" || key.includes("\u0000") || !key.isWellFormed())
    throw invalid(`the key ${JSON.stringify(key)} is no text, or holds NUL or half of a surrogate pair`);
}

function invalid(message: string): LilyError {
  return new LilyError("namespace_invalid", message, { next: "Encode ids before they become labels." });
}

/** One text for a namespace: each label ended by `.`, which no label holds, so `["a","b"]` is `a.b.`. */
function encodePath(namespace: Namespace): string {
  return namespace.map((label) => `${label}.`).join("");
}

/** The namespace of a text that {@link encodePath} made. */
export function decodePath(path: string): string[] {
  return path.split(".").slice(0, -1);
}

/** The first text behind every path that begins with the labels of `path`, which has some: `/` is the character after `.`. */
export function endOfRange(path: string): string {
  return `${path.slice(0, -1)}/`;
}

/**
 * The namespaces that `query` selects. `paths` has to be sorted by code point (UTF-8 order), which is also the order of the
 * answer; it is read only as far as the limit demands.
 */
export function selectNamespaces(paths: Iterable<string>, query: NamespaceQuery): string[][] {
  const selected: string[][] = [];
  let last: string | undefined;
  let skipped = 0;
  for (const path of paths) {
    if (selected.length >= query.limit) break;
    const labels = decodePath(path);
    if (!query.conditions.every((condition) => matches(labels, condition))) continue;
    const cut = labels.slice(0, query.maxDepth);
    // Those that are cut to the same labels stand next to each other, because the paths are sorted.
    if (encodePath(cut) === last) continue;
    last = encodePath(cut);
    if (skipped < query.offset) skipped += 1;
    else selected.push(cut);
  }
  return selected;
}

function matches(labels: Namespace, { matchType, path }: MatchCondition): boolean {
  if (path.length > labels.length) return false;
  const start = matchType === "prefix" ? 0 : labels.length - path.length;
  return path.every((wanted, index) => wanted === "*" || wanted === labels[start + index]);
}

/** The path that every selected namespace begins with: the longest prefix condition up to its first wildcard. */
export function commonPath({ conditions }: NamespaceQuery): string {
  return conditions
    .filter(({ matchType }) => matchType === "prefix")
    .map(({ path }) => path.slice(0, path.includes("*") ? path.indexOf("*") : undefined))
    .reduce((longest, path) => (encodePath(path).length > longest.length ? encodePath(path) : longest), "");
}
