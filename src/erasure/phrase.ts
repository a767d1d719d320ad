/** Texts in a form in which case, width, spacing and punctuation do not count, and whether one stands in another. */

/** Scripts that put no space between words. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

/** Letters, marks and digits of `text` in lower case, with one space for all that stands between them. */
export function comparable(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .normalize("NFKC")
    .replaceAll(/['’‘`´]/gu, "")
    .replaceAll(/[\p{Cf}\u00AD]/gu, "")
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Emoji_Presentation}]+/gu, " ")
    .trim();
}

/** Whether `phrase` stands in `text` as words of its own; both in comparable form. An empty one stands nowhere. */
export function containsPhrase(text: string, phrase: string): boolean {
  if (phrase === "") return false;
  const opens = UNSPACED.test(phrase.at(0) ?? "");
  const closes = UNSPACED.test(phrase.at(-1) ?? "");
  for (let at = text.indexOf(phrase); at >= 0; at = text.indexOf(phrase, at + 1)) {
    const before = text[at - 1] ?? " ";
    const after = text[at + phrase.length] ?? " ";
    if ((opens || before === " ") && (closes || after === " ")) return true;
  }
  return false;
}
