/** Whether a text says what is to be erased: a rule about words and their borders, in any script. No paraphrase is guessed. */
import { termsOf } from "#src/kernel/words.ts";

/** Tells of a text whether it says it. Line breaks in it count as spaces. */
export type Says = (text: string) => boolean;

/** Scripts that put no space between words: a name stands in the middle of other letters. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\p{sc=Tibetan}]/u;
/** Words end where these begin or end; Korean particles follow a word without a space. */
const KATAKANA = /[\p{sc=Katakana}ー]/u;
const HANGUL = /\p{sc=Hangul}/u;
const WORD = /[\p{L}\p{N}\p{M}]/u;
const MARK = /\p{M}/u;

/** Lower case, one width, one apostrophe, nothing that nobody sees. */
function folded(text: string): string {
  const lower = text.normalize("NFKC").toLowerCase().normalize("NFKC");
  return lower
    .replaceAll(/[\p{Cf}\p{Variation_Selector}]/gu, "")
    .replaceAll(/(?<=\p{L})['’‘ʼ`´](?=\p{L})/gu, "'");
}

const NO_LETTER = /[^\p{L}\p{M}\p{N}\p{Emoji_Presentation}]+/gu;

/** `text` in a form in which case, width, spacing and punctuation do not count. */
export function comparable(text: string): string {
  return folded(text).replaceAll(NO_LETTER, " ").trim();
}

/** The same, and with nothing in place of apostrophes: `l'Aquila` has the word `Aquila`, and `don't` may be written `dont`. */
function formsOf(text: string): readonly string[] {
  const form = folded(text);
  const forms = form.includes("'") ? [form, form.replaceAll("'", "")] : [form];
  return forms.map((one) => one.replaceAll(NO_LETTER, " ").trim());
}

/** Content words, stemmed, without punctuation but apostrophes; what joins words in names of files is a space. */
function contentOf(text: string): string[] {
  return termsOf(folded(text).replaceAll(/[^\p{L}\p{M}\p{N}']+/gu, " "));
}

/** Whether `phrase` stands in `text` as words of its own; both in comparable form. An empty one stands nowhere. */
function containsPhrase(text: string, phrase: string): boolean {
  if (phrase === "") return false;
  const [first = "", ...rest] = phrase;
  const last = rest.at(-1) ?? first;
  for (let at = text.indexOf(phrase); at >= 0; at = text.indexOf(phrase, at + 1)) {
    const before = /.$/su.exec(text.slice(Math.max(0, at - 2), at))?.[0] ?? " ";
    const [after = " "] = text.slice(at + phrase.length, at + phrase.length + 2);
    const endsBefore = isBorder(last, after) || (HANGUL.test(last) && HANGUL.test(after));
    if (endsBefore && isBorder(before, first)) return true;
  }
  return false;
}

/** Whether one word may end with `left` and another begin with `right`. */
function isBorder(left: string, right: string): boolean {
  if (!WORD.test(left) || !WORD.test(right)) return true;
  if (MARK.test(right)) return false;
  const isOwn = [KATAKANA, HANGUL].some((script) => script.test(left) !== script.test(right));
  return isOwn || UNSPACED.test(left) || UNSPACED.test(right);
}

/** Words of a text within which all words of a fact count as said together: a question, its answer, and some around them. */
const TOGETHER = 60;

/** A lone word is too common to stand for a fact. */
const LEAST_WORDS = 2;

/**
 * The rule for `fact`: a text says it that has the whole of it at borders of words, or all its content words in any order, close
 * together. A number, and with it a date, an amount or a time, makes two facts the same only beside words. One that is all that
 * is asked for is found however its digits are grouped.
 */
export function saysOf(fact: string): Says {
  const phrases = formsOf(fact);
  const words = new Set(contentOf(fact));
  const isByWords = words.size >= LEAST_WORDS && [...words].some((word) => !isNumber(word));
  const [number] = /\p{L}/u.test(fact) ? [] : numbersIn(fact);
  return (text) => {
    if (text.trim() === "") return false;
    const forms = formsOf(text);
    if (forms.some((form) => phrases.some((phrase) => containsPhrase(form, phrase)))) return true;
    if (number?.test(text.normalize("NFKC")) === true) return true;
    return isByWords && haveTogether(text, words, { least: words.size, isSame: (a, b) => a === b });
  };
}

/**
 * The rule for what has a part of `fact` and is told of, not erased: half of its content words, at least two, in whatever form;
 * the words with which it was `asked` for, unless those are an id; or a number of it that is no date and no year.
 */
export function saysPartOf(fact: string, asked = ""): Says {
  const words = isId(asked) ? "" : asked;
  const saysAsked = saysOf(words);
  const halves = [halfOf(fact), halfOf(words)];
  const numbers = numbersIn(fact);
  return (text) =>
    saysAsked(text) ||
    halves.some((says) => says(text)) ||
    numbers.some((number) => number.test(text.normalize("NFKC")));
}

function halfOf(fact: string): Says {
  const words = new Set(contentOf(fact.replaceAll(CJK_DATE, " ")).filter((word) => !isNumber(word)));
  const least = Math.min(words.size, Math.max(LEAST_WORDS, Math.ceil(words.size / 2)));
  return (text) => least > 0 && haveTogether(text, words, { least, isSame: isAkin });
}

function isId(asked: string): boolean {
  return /^[0-9a-f-]+$/iu.test(asked) && /\d/u.test(asked);
}

function isNumber(word: string): boolean {
  return !/\p{L}/u.test(word);
}

/** Characters that count years, months, days, hours and minutes. */
const CJK_DATE = /\p{N}+\s*[年月日号號時时点點分년월일시분]/gu;
const NUMBER = /\d(?:[\s\-/.()]{0,2}\d){3,}/gu;
const DATE_OR_YEAR = /^(?:\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|(?:19|20)\d\d)(?!\d)/u;

/** Shorter ones are not grouped; an amount that is written otherwise is another. */
const LEAST_GROUPED = 6;

/** Telephone, card and account numbers, PINs: what looks for their digits, however they are grouped. */
function numbersIn(fact: string): RegExp[] {
  const found = fact.normalize("NFKC").match(NUMBER) ?? [];
  return found
    .filter((number) => !DATE_OR_YEAR.test(number))
    .map((number) => {
      const digits = number.replaceAll(/\D/gu, "");
      const between = digits.length < LEAST_GROUPED ? "" : "[\\s\\-/.()]{0,2}";
      return new RegExp(`(?<!\\d)(?:00?)?${digits.split("").join(between)}(?!\\d)`, "u");
    });
}

const LEAST_LETTERS = 3;
const LONGEST_ENDING = 2;

/** `lives` and `living`, `Ivan` and `Ivana`, `Quimbleton` in `Quimbletons`: a word in another form, or within another. */
function isAkin(word: string, other: string): boolean {
  const isLong = other.length >= LEAST_LETTERS || UNSPACED.test(other) || HANGUL.test(other);
  if (word === other || (isLong && word.includes(other))) return true;
  const least = Math.max(LEAST_LETTERS, Math.min(word.length, other.length) - LONGEST_ENDING);
  return word.length >= least && word.slice(0, least) === other.slice(0, least);
}

const COMMAND = /^\s*\/(?:forget|memory|remember)(?:@\S+?)?[\s:]/iu;

/** A line says it that is a command about memory with the words in which the fact was asked for. */
export function askedBy(words: string): Says {
  const phrase = comparable(words);
  return (text) =>
    text.split("\n").some((line) => COMMAND.test(line) && containsPhrase(comparable(line), phrase));
}

/** Whether at least so many of the words stand close together in a text. */
function haveTogether(
  text: string,
  words: ReadonlySet<string>,
  rule: { readonly least: number; readonly isSame: (word: string, other: string) => boolean },
): boolean {
  // Taking words apart costs the most, and most texts lack even the beginnings of these.
  const form = folded(text);
  const begun = [...words].filter((word) =>
    form.includes(word.slice(0, Math.min(LEAST_LETTERS, word.length - 1))),
  );
  if (begun.length < rule.least) return false;
  const lastSeen = new Map<string, number>();
  for (const [index, word] of contentOf(text).entries()) {
    for (const other of begun) if (rule.isSame(word, other)) lastSeen.set(other, index);
    const near = [...lastSeen.values()].filter((at) => index - at < TOGETHER);
    if (near.length >= rule.least) return true;
  }
  return false;
}
