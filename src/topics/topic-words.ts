/** The words of a message that can carry a topic: few enough to compare, crudely stemmed, in any script. */
import { termsOf } from "#src/kernel/words.ts";
import { LIGHT_WORDS } from "./light-words.ts";

/** What is looked at of a long message, in UTF-16 units: what is asked stands at its beginning or its end. */
const HEAD = 1_500;
const TAIL = 500;

/** `text`, or its beginning and end; whole characters only, no half surrogates. */
export function glanceAt(text: string): string {
  if (text.length <= HEAD + TAIL) return text.toWellFormed();
  return `${text.slice(0, HEAD)} … ${text.slice(-TAIL)}`.toWellFormed().replaceAll("\uFFFD", " ");
}

/** The distinct words of `glance` that can carry a topic, as keys that forms of one word share ("taxes", "tax"). */
export function topicWords(glance: string): ReadonlySet<string> {
  return new Set(
    termsOf(glance.replaceAll("\uFFFD", " "))
      .filter((word) => !isLight(word))
      .map(wordKey),
  );
}

/** Numbers, single letters and syllables, particles of Japanese, and the words on the list. */
function isLight(word: string): boolean {
  if (LIGHT_WORDS.has(word) || /^[\p{N}.,:%/-]+$/u.test(word)) return true;
  if (/^[\p{Script=Hiragana}ー]{1,4}$/u.test(word)) return true;
  return word.length === 1 && !/\p{Script=Han}/u.test(word);
}

/** Letters that forms of a word share: five of most scripts ("налог|ов"), two syllables of Korean ("세금|은"). */
function wordKey(word: string): string {
  const bare = word.replace(/^(?:l|d|qu|j|n|s|m|t|c)['’](?=\p{L}{3})/u, "").replace(/^ال(?=.{3})/u, "");
  const kept = /\p{Script=Hangul}/u.test(bare) ? 2 : 5;
  return Array.from(bare).slice(0, kept).join("");
}
