/** Which text of a value is searched: LangGraph's field paths, read over plain JSON, and the form in which it is indexed. */
import type { Embedder } from "#memory/embedding/embedder.ts";

// The steps of a field path, brackets and braces kept: `a.b[*]` gives `a`, `b`, `[*]`.
const STEPS = /\[[^\]]*\]|\{[^}]*\}|[^.[\]{}]+/gu;

/** Field paths whose text is indexed; `$` is every string in the value. `false` indexes nothing. */
export type IndexFields = readonly string[] | false;

/** What of an item is searched, and how: LangGraph's `index` settings. */
export interface StoreIndex {
  /**
   * Field paths that are searched when a `put` does not say; by default every string (`["$"]`). By namespace if it is a
   * function: inside a graph node LangGraph drops the `index` argument of `put`, so only this can keep a namespace out.
   */
  readonly fields?: IndexFields | ((namespace: readonly string[]) => IndexFields);
  /** Makes the vectors of these texts. Left out, items are found by their words alone. */
  readonly embed?: Embedder;
  /** Whose texts `embed` may be given; by default all. */
  readonly isEmbedded?: (namespace: readonly string[]) => boolean;
}

/**
 * The texts that `fields` select from a JSON value, in the order of the fields. LangGraph's notation for a place in a value
 * (`a.b`, `list[*].text`, `list[0]`, `list[-1]`, `{a,b}`, `*`), and beside it `list[1:]`: all but the first. A field that
 * leads to an object or array gives each string inside it; numbers and booleans count only when a field names them. Member
 * names are no text.
 */
export function textsOf(value: unknown, fields: readonly string[]): string[] {
  return fields.flatMap((field) => {
    if (field === "$" || field === "") return stringsIn(value);
    return select(value, field).flatMap((leaf) =>
      typeof leaf === "number" || typeof leaf === "boolean" ? [String(leaf)] : stringsIn(leaf),
    );
  });
}

function stringsIn(value: unknown): string[] {
  return typeof value === "string" ? [value] : childrenOf(value).flatMap(stringsIn);
}

function childrenOf(value: unknown): unknown[] {
  return typeof value === "object" && value !== null ? Object.values(value) : [];
}

function select(value: unknown, path: string): unknown[] {
  const steps = path.match(STEPS) ?? [];
  return steps.reduce<unknown[]>((found, token) => found.flatMap((one) => step(one, token)), [value]);
}

function step(value: unknown, token: string): unknown[] {
  if (token === "*") return childrenOf(value);
  if (token.startsWith("[")) return Array.isArray(value) ? [...elements(value, token.slice(1, -1))] : [];
  if (token.startsWith("{")) {
    const paths = token.slice(1, -1).split(",");
    return paths.flatMap((path) => select(value, path.trim()));
  }
  if (typeof value !== "object" || value === null || Array.isArray(value) || !Object.hasOwn(value, token))
    return [];
  return [(value as Record<string, unknown>)[token]];
}

function elements(list: readonly unknown[], index: string): readonly unknown[] {
  if (index === "*") return list;
  if (index === "1:") return list.slice(1);
  const at = /^-?\d+$/u.test(index) ? Number(index) : Number.NaN;
  return list.slice(at, at === -1 ? undefined : at + 1);
}

/** What of an item is indexed: its text, and what counts less. Both are empty where there is nothing to find. */
export type IndexedTexts = readonly [text: string, light: string];

/**
 * The texts by which an item is found and ranked, in the form in which they are indexed. Of a turn what the user said comes
 * first, and what the assistant said to it, by the fields behind the first one, is light; of all else nothing is.
 *
 * @param json the value
 * @param root the first label of its namespace
 */
export function indexedTexts(json: string, fields: IndexFields, root: string | undefined): IndexedTexts {
  if (fields === false) return ["", ""];
  const parted = root === "history" ? 1 : fields.length;
  const value: unknown = JSON.parse(json);
  const text = (some: readonly string[]) => toSearchableText(textsOf(value, some).join("\n"));
  return [text(fields.slice(0, parted)), text(fields.slice(parted))];
}

// The same text always gives the same bytes, because a text is taken out of an index by them: a change below, or in what
// `textsOf` selects, needs a migration that indexes anew.

// Scripts that put no space between words, and Hangul, whose particles cling to the word. Each character is indexed as
// a word of its own, and a word of a question as the phrase of its characters. Splitting words here instead would
// depend on ICU's dictionary and on the words around: it reads "猫" (cat) in 我的猫叫米粒 as part of "猫叫".
const UNSPACED_CHARACTER =
  "[\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Hang}\\p{scx=Thai}\\p{scx=Laoo}\\p{scx=Khmr}\\p{scx=Mymr}]\\p{M}*";

/** Source of a regular expression for a run of text in scripts that do not space words. */
export const UNSPACED_RUN = `(?:${UNSPACED_CHARACTER})+`;

const UNSPACED = new RegExp(UNSPACED_CHARACTER, "gu");

// Latin with its diacritics and the usual punctuation: nothing below applies to it.
const LATIN_ONLY = /^[\p{ASCII}\u0080-\u02af\u2000-\u200a\u2010-\u206f\u20ac]*$/u;

// Hebrew points, Arabic vowel signs and tatweel: readers leave them out, so a question does not have them.
const OPTIONAL_MARKS = new RegExp("[[\\p{scx=Hebr}\\p{scx=Arab}]&&\\p{Mn}]|\\u0640", "gv");

/** Most words of a question that are looked up; the rest of a long text adds noise and time. */
export const MAX_QUERY_TERMS = 64;

/** Most characters of a question that are read. */
export const MAX_QUERY_CHARACTERS = 20_000;

/** `text` in compatibility form (NFKC), without optional vowel signs, unspaced scripts spaced by character. */
export function toSearchableText(text: string): string {
  const plain = normalizeText(text);
  return LATIN_ONLY.test(plain) ? plain : plain.replace(UNSPACED, " $& ");
}

/** The part of {@link toSearchableText} that leaves words whole. */
export function normalizeText(text: string): string {
  const plain = text.toWellFormed().normalize("NFKC").replaceAll("\u0000", " ");
  return LATIN_ONLY.test(plain) ? plain : plain.replace(OPTIONAL_MARKS, "");
}
