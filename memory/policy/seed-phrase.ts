/** Recovery phrases of wallets: as many words as the standard (BIP 39) has, none of which holds a sentence together. */
import type { Finding } from "./verdict.ts";

/** Words of a phrase. The list of the standard has words of 3 to 8 letters, and no articles, prepositions or verbs of being. */
const COUNTS: ReadonlySet<number> = new Set([12, 15, 18, 21, 24]);
const LEAST = 12;
// Letters with accents are in the Spanish, French, Italian, Portuguese and Czech lists.
const WORD = "(?=[\\p{Script=Latin}\\p{M}]{3,9}(?![\\p{L}\\p{M}]))\\p{Ll}[\\p{Ll}\\p{M}]+";
const PHRASE = new RegExp(`(?<![\\p{L}\\p{N}])${WORD}(?:[ ,\\n]+${WORD}){11,35}(?![\\p{L}\\p{N}])`, "gu");
const ANNOUNCED =
  /(?:seed|mnemonic|recovery|backup|wallet|ledger|trezor|metamask|wiederherstellung\p{L}*|récupération|recuperación|semilla)(?!\p{L})/iu;

const NOT_IN_THE_LIST: ReadonlySet<string> = new Set(
  `the and for are was were with from has had his her him its our not but who how why does did been than them these
  those into over until upon per via got get gets were would could should might must shall may can let them your
  der die das und ein eine ist sind mit von für les des une est avec pour los las una con por son het een van voor met`.split(
    /\s+/u,
  ),
);

/** Findings of recovery phrases: after a word that announces one, or by their exact number of words. */
export function findSeedPhrases(text: string): Finding[] {
  return [...text.matchAll(PHRASE)].flatMap(({ 0: found, index }): Finding[] => {
    const words = found.split(/[ ,\n]+/u);
    const isAnnounced = ANNOUNCED.test(text.slice(0, index)) || ANNOUNCED.test(words.slice(0, 4).join(" "));
    const isAlone = !/[\p{L}\p{N}] $/u.test(text.slice(0, index)) && COUNTS.has(words.length);
    const isPhrase = isAnnounced
      ? longestPart(words) >= LEAST
      : isAlone && longestPart(words) === words.length;
    return isPhrase && !isList(words)
      ? [{ rule: "credential", start: index, end: index + found.length }]
      : [];
  });
}

/** Most words in a row that the standard may have. */
function longestPart(words: readonly string[]): number {
  let longest = 0;
  let length = 0;
  for (const word of words) {
    length = NOT_IN_THE_LIST.has(word) ? 0 : length + 1;
    longest = Math.max(longest, length);
  }
  return longest;
}

/** A list of things is mostly in the plural, and the standard has next to none. */
function isList(words: readonly string[]): boolean {
  return words.filter((word) => /[^siu]s$/u.test(word) && !NOT_IN_THE_LIST.has(word)).length > 1;
}
