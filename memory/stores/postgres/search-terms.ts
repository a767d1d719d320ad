/** The words by which an item is found: those that the database looks up, and the ranking of what it found. */
import { rankTexts, termsOf, type RankedText } from "#src/kernel/words.ts";
import { toSearchableText } from "../sqlite/searchable-text.ts";

/** Most words of a question that are looked up; the rest of a long text adds noise and time. */
const MAX_QUERY_TERMS = 64;

/** Most characters of a question that are read. */
const MAX_QUERY_CHARACTERS = 20_000;

// An entry of the index has to fit on a third of a page; no word is longer, only bytes that were taken for text.
const MAX_TERM_CHARACTERS = 100;

/**
 * The terms of a text that is stored, each once. They stand in the index: a change here, in `termsOf` or in
 * `toSearchableText` needs a migration that indexes anew.
 */
export function storedTerms(text: string): string[] {
  return distinctTerms(text);
}

/** The terms of a question; none when it holds no word that carries a topic. */
export function queryTerms(text: string): string[] {
  return distinctTerms(text.slice(0, MAX_QUERY_CHARACTERS)).slice(0, MAX_QUERY_TERMS);
}

/** Ranks items that share a term with `query`, best first; what is equally good keeps its order. */
export function rankByTerms<T>(
  items: readonly T[],
  query: string,
  textOf: (item: T) => string,
): RankedText<T>[] {
  const question = toSearchableText(query.slice(0, MAX_QUERY_CHARACTERS));
  return rankTexts(items, question, (item) => toSearchableText(textOf(item)));
}

function distinctTerms(text: string): string[] {
  const terms = termsOf(toSearchableText(text));
  return [...new Set(terms.map((term) => term.slice(0, MAX_TERM_CHARACTERS).toWellFormed()))];
}
