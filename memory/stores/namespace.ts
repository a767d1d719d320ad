/** Namespaces as stores keep them: what is refused, and a text form in which a prefix of labels is a range. */
import { LilyError } from "#src/kernel/errors.ts";

/** Labels from the root down. */
export type Namespace = readonly string[];

/**
 * Refuses labels that are empty, not text, or hold `.`, NUL or half of a surrogate pair; and the empty namespace,
 * unless it is allowed (a search over everything).
 *
 * @throws {LilyError} `namespace_invalid`.
 */
export function assertNamespace(namespace: Namespace, options: { readonly allowEmpty?: boolean } = {}): void {
  if (!Array.isArray(namespace)) throw invalid("a namespace is an array of labels");
  if (namespace.length === 0 && options.allowEmpty !== true)
    throw invalid("a namespace has at least one label");
  for (const label of namespace) {
    const problem = labelProblem(label);
    if (problem !== undefined) throw invalid(`the label ${JSON.stringify(label)} ${problem}`);
  }
}

/**
 * Refuses the root label `langgraph`, which LangGraph keeps for itself. Only `put` is checked, as upstream does.
 *
 * @throws {LilyError} `namespace_invalid`.
 */
export function assertNotReserved(namespace: Namespace): void {
  if (namespace[0] === "langgraph") throw invalid('the root label "langgraph" is reserved');
}

/**
 * Refuses keys that are not text, or hold NUL or half of a surrogate pair: two of those could become one on disk.
 *
 * @throws {LilyError} `namespace_invalid`.
 */
export function assertKey(key: string): void {
  const problem = textProblem(key);
  if (problem !== undefined) throw invalid(`the key ${JSON.stringify(key)} ${problem}`);
}

/** One text for a namespace: each label ended by `.`, which no label holds, so `["a","b"]` is `a.b.`. */
export function encodePath(namespace: Namespace): string {
  return namespace.map((label) => `${label}.`).join("");
}

/** The namespace of a text that {@link encodePath} made. */
export function decodePath(path: string): string[] {
  return path.split(".").slice(0, -1);
}

function labelProblem(label: unknown): string | undefined {
  if (label === "") return "is empty";
  if (typeof label === "string" && label.includes(".")) return "holds a period, which separates labels";
  return textProblem(label);
}

function textProblem(text: unknown): string | undefined {
  if (typeof text !== "string") return "is not text";
  if (text.includes("\u0000")) return "holds a NUL character";
  return text.isWellFormed() ? undefined : "holds half of a surrogate pair";
}

function invalid(message: string): LilyError {
  return new LilyError("namespace_invalid", message, { next: "Encode ids before they become labels." });
}
