/** The form of a text in which two facts are the same fact: case, spacing, width and closing marks do not count. */

/**
 * `text` in comparable form. Trivial variants of a fact have the same, a change of a word or number does not:
 * "I live in  Ghent." and "i live in ghent", not "I live in Ghent since 2019".
 */
export function comparableText(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .normalize("NFKC")
    .replaceAll(/[’‘`´]/gu, "'")
    .replaceAll(/[“”„«»]/gu, '"')
    .replaceAll(/[‐‑‒–—]/gu, "-")
    .replaceAll(/\s+/gu, " ")
    .replaceAll(/^[\s"']+|[\s"'.!。！；;,،؛…]+$/gu, "")
    .trim();
}
