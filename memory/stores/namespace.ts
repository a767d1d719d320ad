/** Namespaces as stores keep them: what is refused, a text form in which a prefix of labels is a range, and how they are listed. */
import { validateNamespace, type MatchCondition } from "@langchain/langgraph-checkpoint";
import { LilyError } from "#src/kernel/errors.ts";

/** Labels from the root down. */
export type Namespace = readonly string[];

/**
 * Refuses what LangGraph refuses (labels that are empty, not text, or hold `.`, `:` or NUL), and half of a surrogate pair,
 * which would not come back from the disk as it was; and the empty namespace, unless it is allowed (a search over
 * everything).
 *
 * @throws {InvalidNamespaceError} as LangGraph does
 * @throws {LilyError} `namespace_invalid` for half of a surrogate pair
 */
export function assertNamespace(namespace: Namespace, { allowEmpty = false } = {}): void {
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
export function assertKey(key: string): void {
  if (typeof key !== "string" || key.includes("\u0000") || !key.isWellFormed())
    throw invalid(`the key ${JSON.stringify(key)} is no text, or holds NUL or half of a surrogate pair`);
}

function invalid(message: string): LilyError {
  return new LilyError("namespace_invalid", message, { next: "Encode ids before they become labels." });
}

/** One text for a namespace: each label ended by `.`, which no label holds, so `["a","b"]` is `a.b.`. */
export function encodePath(namespace: Namespace): string {
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
 * The namespaces that `query` selects. `paths` has to be sorted by code point (UTF-8 order), which is also the order of the
 * answer; it is read only as far as the limit, which is at least 1, demands.
 */
export function selectNamespaces(paths: Iterable<string>, query: NamespaceQuery): string[][] {
  const selected: string[][] = [];
  let last: string | undefined;
  let skipped = 0;
  for (const path of paths) {
    const labels = decodePath(path);
    if (!query.conditions.every((condition) => matches(labels, condition))) continue;
    const cut = labels.slice(0, query.maxDepth);
    // Those that are cut to the same labels stand next to each other, because the paths are sorted.
    if (encodePath(cut) === last) continue;
    last = encodePath(cut);
    if (skipped < query.offset) skipped += 1;
    else selected.push(cut);
    if (selected.length >= query.limit) break;
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
