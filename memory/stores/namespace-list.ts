/** Which namespaces a `listNamespaces` call is given, from all of them in order. */
import type { MatchCondition } from "@langchain/langgraph-checkpoint";
import { decodePath, type Namespace } from "./namespace.ts";

/** A checked `listNamespaces` call. */
export interface NamespaceQuery {
  /** All of them have to hold; `*` in a path stands for any one label. */
  readonly conditions: readonly MatchCondition[];
  /** Deeper namespaces are cut to this many labels and given once. */
  readonly maxDepth: number | undefined;
  readonly limit: number;
  readonly offset: number;
}

/**
 * The namespaces that `query` selects; its limit is at least 1. `paths` has to be sorted by code point (UTF-8 order), which is also the order
 * of the answer; it is read only as far as the limit demands.
 */
export function selectNamespaces(paths: Iterable<string>, query: NamespaceQuery): string[][] {
  const selected: string[][] = [];
  let skipped = 0;
  for (const namespace of distinct(paths, query)) {
    if (skipped < query.offset) skipped += 1;
    else selected.push(namespace);
    if (selected.length >= query.limit) break;
  }
  return selected;
}

/** The labels that every selected namespace begins with: the prefix conditions up to their first wildcard. */
export function commonPrefix(query: NamespaceQuery): string[] {
  const prefixes = query.conditions.filter((condition) => condition.matchType === "prefix");
  return prefixes.map(({ path }) => untilWildcard(path)).reduce(longer, []);
}

function longer(a: string[], b: string[]): string[] {
  return b.length > a.length ? b : a;
}

function untilWildcard(path: readonly string[]): string[] {
  const end = path.indexOf("*");
  return end < 0 ? [...path] : path.slice(0, end);
}

// Namespaces that are cut to the same labels stand next to each other, because the paths are sorted.
function* distinct(paths: Iterable<string>, query: NamespaceQuery): Generator<string[]> {
  let last: string | undefined;
  for (const path of paths) {
    const labels = decodePath(path);
    if (!query.conditions.every((condition) => matches(labels, condition))) continue;
    const cut = query.maxDepth === undefined ? labels : labels.slice(0, query.maxDepth);
    const shown = cut.join(".");
    if (shown !== last) yield cut;
    last = shown;
  }
}

function matches(labels: Namespace, { matchType, path }: MatchCondition): boolean {
  if (path.length > labels.length) return false;
  const start = matchType === "prefix" ? 0 : labels.length - path.length;
  return path.every((wanted, index) => wanted === "*" || wanted === labels[start + index]);
}
