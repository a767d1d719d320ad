/** Joins words that the end of a line has broken, so that they are found; the document's own words say where a hyphen stays. */

/** A word with what stands before it by hyphens, the hyphen at the end of the line, and the rest of it. */
const BROKEN =
  /(?<!\p{L})((?:\p{L}{1,40}-){0,5})(\p{L}{1,40})([-\u2010\u00ad])[ \t]{0,3}\n[ \t]{0,3}(\p{L}{1,40})/gu;

/**
 * Joins the broken words of `pages`. The hyphen stays before a capital, in `state-of-the-art`, and where the document
 * writes the word with it, or both halves as words of their own, and not the whole without it.
 */
export function joinHyphens(pages: readonly string[]): string[] {
  const whole = pages.join("\n").replaceAll(BROKEN, " ");
  const words = new Set(whole.toLowerCase().match(/\p{L}+(?:[-\u2010]\p{L}+)*/gu));
  const knows = (word: string): boolean => words.has(word.toLowerCase());
  const staysHyphened = (first: string, rest: string): boolean =>
    !knows(first + rest) && (knows(`${first}-${rest}`) || (knows(first) && knows(rest)));
  return pages.map((page) =>
    page.replaceAll(BROKEN, (_all, before: string, first: string, hyphen: string, rest: string) => {
      const stays =
        hyphen !== "\u00ad" && (before !== "" || /^\p{Lu}/u.test(rest) || staysHyphened(first, rest));
      return `${before}${first}${stays ? "-" : ""}${rest}`;
    }),
  );
}
