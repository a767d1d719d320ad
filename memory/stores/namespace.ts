/** Namespaces as stores keep them: what is refused, and a text form in which a prefix of labels is a range. */
import { validateNamespace } from "@langchain/langgraph-checkpoint";
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
  for (const label of namespace) {
    if (!label.isWellFormed())
      throw invalid(`the label ${JSON.stringify(label)} holds half of a surrogate pair`);
  }
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

/** One text for a namespace: each label ended by `.`, which no label holds, so `["a","b"]` is `a.b.`. */
export function encodePath(namespace: Namespace): string {
  return namespace.map((label) => `${label}.`).join("");
}

/** The namespace of a text that {@link encodePath} made. */
export function decodePath(path: string): string[] {
  return path.split(".").slice(0, -1);
}

function invalid(message: string): LilyError {
  return new LilyError("namespace_invalid", message, { next: "Encode ids before they become labels." });
}
