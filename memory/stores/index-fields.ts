/** Which text of a value is searched: LangGraph's field paths, read over plain JSON. */
import type { Embedder } from "#memory/embedding/embedder.ts";
import type { Namespace } from "./namespace.ts";

// LangGraph's notation for a place in a value: `a.b`, `list[*].text`, `list[0]`, `list[-1]`, `{a,b}`, `*`. Beside it `list[1:]`: all but the first.
const TOKEN = /\[[^\]]*\]|\{[^}]*\}|[^.[\]{}]+/gu;

/** Field paths whose text is indexed; `$` is every string in the value. `false` indexes nothing. */
export type IndexFields = readonly string[] | false;

/** What of an item is searched, and how: LangGraph's `index` settings. */
export interface StoreIndex {
  /**
   * Field paths that are searched when a `put` does not say; by default every string (`["$"]`). By namespace if it is a
   * function: inside a graph node LangGraph drops the `index` argument of `put`, so only this can keep a namespace out.
   */
  readonly fields?: IndexFields | ((namespace: Namespace) => IndexFields);
  /** Makes the vectors of these texts. Left out, items are found by their words alone. */
  readonly embed?: Embedder;
  /** Whose texts `embed` may be given; by default all. */
  readonly isEmbedded?: (namespace: Namespace) => boolean;
}

/**
 * The texts that `fields` select from a JSON value, in the order of the fields. A field that leads to an object or
 * array gives each string inside it; numbers and booleans count only when a field names them. Member names are no text.
 */
export function textsOf(value: unknown, fields: readonly string[]): string[] {
  return fields.flatMap((field) => {
    if (field === "$" || field === "") return stringsIn(value);
    return select(value, tokensOf(field)).flatMap(leafTexts);
  });
}

/** The steps of a field path, brackets and braces kept: `a.b[*]` gives `a`, `b`, `[*]`. */
function tokensOf(path: string): string[] {
  return path.match(TOKEN) ?? [];
}

function leafTexts(leaf: unknown): string[] {
  if (typeof leaf === "number" || typeof leaf === "boolean") return [String(leaf)];
  return stringsIn(leaf);
}

function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return childrenOf(value).flatMap(stringsIn);
}

function childrenOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return typeof value === "object" && value !== null ? Object.values(value) : [];
}

function select(value: unknown, tokens: readonly string[]): unknown[] {
  const [token, ...rest] = tokens;
  if (token === undefined) return [value];
  return step(value, token).flatMap((next) => select(next, rest));
}

function step(value: unknown, token: string): unknown[] {
  if (token === "*") return childrenOf(value);
  if (token.startsWith("[")) return elements(value, token.slice(1, -1));
  if (token.startsWith("{")) {
    const paths = token.slice(1, -1).split(",");
    return paths.flatMap((path) => select(value, tokensOf(path.trim())));
  }
  return member(value, token);
}

function elements(value: unknown, index: string): unknown[] {
  if (!Array.isArray(value)) return [];
  if (index === "*") return value;
  if (index === "1:") return value.slice(1);
  const element: unknown = /^-?\d+$/u.test(index) ? value.at(Number(index)) : undefined;
  return element === undefined ? [] : [element];
}

function member(value: unknown, name: string): unknown[] {
  if (typeof value !== "object" || value === null || Array.isArray(value) || !Object.hasOwn(value, name))
    return [];
  return [(value as Record<string, unknown>)[name]];
}

/**
 * The text by which an item is ranked, and what of it counts less. Of a turn what the user said comes first, and what
 * the assistant said to it, by the fields behind the first one, is light; of all else nothing is.
 */
export function weighedTexts(
  value: unknown,
  fields: readonly string[],
  root: string | undefined,
): readonly [text: string, light: string] {
  const [first, ...others] = fields;
  if (root !== "history" || first === undefined) return [textsOf(value, fields).join("\n"), ""];
  return [textsOf(value, [first]).join("\n"), textsOf(value, others).join("\n")];
}
