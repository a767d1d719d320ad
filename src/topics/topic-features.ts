/** What a change of topic is recognised by: a handful of numbers that a person can check by reading. */
import { termsOf } from "#src/kernel/words.ts";
import { wordingOf, type Wording } from "./topic-phrases.ts";
import { LIGHT_WORDS } from "./light-words.ts";

/** Names of the features, in the order of the weights. */
export const FEATURE_NAMES = [
  "apart",
  "sharedLast",
  "sharedThree",
  "sharedAll",
  "length",
  "requesting",
  "freshRequest",
  "freshQuestion",
  "pointing",
  "age",
] as const;

/** Values of the features, each from 0 to 1. */
export type TopicFeatures = Readonly<Record<(typeof FEATURE_NAMES)[number], number>>;

/** A message read beside what was said before. */
export interface MessageReading {
  readonly features: TopicFeatures;
  /** Words that can carry a topic, in the message. */
  readonly words: number;
  /** Such words that were said before. */
  readonly shared: number;
  /** Such words in what was said before. */
  readonly recentWords: number;
  readonly wording: Wording;
}

/** Messages looked at; older ones say little about what is talked about now. */
const RECENT_MESSAGES = 6;

/** Words from which on a message is as long as it can be. */
const LONG = 15;

/** Reads `message` beside `recent` (oldest first). */
export function readMessage(recent: readonly string[], message: string): MessageReading {
  const glance = glanceAt(message);
  const before = recent.slice(-RECENT_MESSAGES).map((text) => topicWords(glanceAt(text)));
  const words = topicWords(glance);
  const wording = wordingOf(glance);
  const [last, three, all] = [1, 3, RECENT_MESSAGES].map((count) => sharedShare(words, before.slice(-count)));
  const apart = words.size > 0 && all === 0;
  const fresh = apart && !wording.pointing;
  return {
    features: {
      apart: Number(apart),
      sharedLast: last ?? 0,
      sharedThree: three ?? 0,
      sharedAll: all ?? 0,
      length: Math.min(1, Math.log2(1 + words.size) / Math.log2(1 + LONG)),
      requesting: Number(wording.requesting),
      freshRequest: Number(fresh && wording.requesting),
      freshQuestion: Number(fresh && wording.question),
      pointing: Number(wording.pointing),
      age: Math.min(before.length, RECENT_MESSAGES) / RECENT_MESSAGES,
    },
    words: words.size,
    shared: Math.round((all ?? 0) * words.size),
    recentWords: new Set(before.flatMap((set) => [...set])).size,
    wording,
  };
}

/** Which share of `words` was said in `before`; 0 without words. */
function sharedShare(words: ReadonlySet<string>, before: readonly ReadonlySet<string>[]): number {
  if (words.size === 0) return 0;
  const shared = [...words].filter((word) => before.some((set) => set.has(word)));
  return shared.length / words.size;
}

/** What is looked at of a long message, in UTF-16 units: what is asked stands at its beginning or its end. */
const HEAD = 1_500;
const TAIL = 500;

/** `text`, or its beginning and end; whole characters only, no half surrogates. */
function glanceAt(text: string): string {
  if (text.length <= HEAD + TAIL) return text.toWellFormed();
  return `${text.slice(0, HEAD)} … ${text.slice(-TAIL)}`.toWellFormed().replaceAll("\uFFFD", " ");
}

/** The distinct words of `glance` that can carry a topic, as keys that forms of one word share ("taxes", "tax"). */
function topicWords(glance: string): ReadonlySet<string> {
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
