/** Whether a text says a fact that is to be erased: in the same words, in all its words together, or by one of its values. */
import { termsOf } from "#src/kernel/words.ts";
import { containsValue, valuesOf } from "./distinctive-values.ts";
import { comparable, containsPhrase } from "./phrase.ts";

/** Tells of a text whether it says the fact. Line breaks in it count as spaces. */
export type Says = (text: string) => boolean;

/** Words of a text within which all words of a fact count as said together: a question, its answer, and some around them. */
const TOGETHER = 60;

/** A lone word is too common to stand for a fact. */
const LEAST_TERMS = 2;

/**
 * The rule for `fact`, on the side of erasing too much: a text says it that has
 * - the whole fact, whatever its case, width, spacing and punctuation; or
 * - all its content words, stemmed and in any order, close together; a fact has at least two; or
 * - one of its distinctive values: an address, an e-mail, a number or code.
 */
export function saysOf(fact: string): Says {
  const phrase = comparable(fact);
  const terms = new Set(termsOf(phrase));
  const values = valuesOf(fact);
  return (text) => {
    if (text.trim() === "") return false;
    const normal = comparable(text);
    return (
      containsPhrase(normal, phrase) ||
      containsValue(text, values) ||
      (terms.size >= LEAST_TERMS && hasTogether(normal, { terms, least: terms.size }))
    );
  };
}

/** Half of a fact is told of, and not erased: other things may be meant. */
const PART = 0.5;

/**
 * The rule for what has a part of `fact`: half of its content words close together, at least two, or the words with which
 * it was `asked` for, unless those are an id.
 */
export function saysPartOf(fact: string, asked = ""): Says {
  const terms = new Set(termsOf(comparable(fact)));
  const least = Math.max(LEAST_TERMS, Math.ceil(terms.size * PART));
  const saysAsked = saysOf(isId(asked) ? "" : asked);
  return (text) => saysAsked(text) || hasTogether(comparable(text), { terms, least });
}

function isId(asked: string): boolean {
  return /^[0-9a-f-]+$/iu.test(asked) && /\d/u.test(asked);
}

const COMMAND = /^\s*\/(?:forget|memory|remember)(?:@\S+?)?[\s:]/iu;

/** A line says it that is a command about memory with the words in which the fact was asked for. */
export function askedBy(words: string): Says {
  const phrase = comparable(words);
  return (text) =>
    text.split("\n").some((line) => COMMAND.test(line) && containsPhrase(comparable(line), phrase));
}

/** Says one of them. */
export function saysAny(rules: readonly Says[]): Says {
  return (text) => rules.some((says) => says(text));
}

/** Whether at least so many of the terms stand together in a text in comparable form, in which names of files are words. */
function hasTogether(
  normal: string,
  { terms, least }: { readonly terms: ReadonlySet<string>; readonly least: number },
): boolean {
  // Taking words apart costs the most, and most texts lack them even as letters.
  let missing = 0;
  for (const term of terms) {
    if (!normal.includes(rootOf(term))) missing += 1;
    if (terms.size - missing < least) return false;
  }
  const lastSeen = new Map<string, number>();
  for (const [index, word] of termsOf(normal).entries()) {
    if (!terms.has(word)) continue;
    lastSeen.set(word, index);
    if (lastSeen.size < least) continue;
    const near = [...lastSeen.values()].filter((at) => index - at < TOGETHER);
    if (near.length >= least) return true;
  }
  return false;
}

/** What every form of a stemmed word begins with: "-ies" became "-y". */
function rootOf(term: string): string {
  return term.replace(/y$/u, "");
}
