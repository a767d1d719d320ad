/**
 * The form in which text goes into the full-text index. The same text always gives the same bytes, because a text is
 * taken out of the index by them: a change here, or in what `textsOf` selects, needs a migration that indexes anew.
 */

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
