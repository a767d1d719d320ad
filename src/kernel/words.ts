/** Words and sentences of a text in any script, which of them ask something, and the ranking of texts by shared words. */
import { stemmer } from "stemmer";

let segmenter: Intl.Segmenter | undefined;

/** Parts text into words by the rules of Unicode; made when it is first needed, which takes longer than most texts. */
export const wordSegmenter = (): Intl.Segmenter =>
  (segmenter ??= new Intl.Segmenter(undefined, { granularity: "word" }));

/** English words that carry no topic. Other languages have none: their rare words outweigh frequent ones by themselves. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about after all also am an and any are as at be been before but by can could did do does done for from had has have
  he her here hers him his how i if in into is it its just let me more my no nor not now of off on once only or our ours
  out over please really said say she should so some such tell than that the their them then there these they this those
  to too under up us very was we were what when where which who whom whose why will with would you your yours`.split(
    /\s+/u,
  ),
);

// ASCII without marks that may stand inside a word (it's, e.g., 3.5, 1,000, a_b, x:y): there the segmenter's words are
// runs of letters and digits, and finding those takes a tenth of its time.
const IS_PLAIN = /^(?:[\t\n\r -&(-+\-/-9<-^`-~]|[.',:;](?![A-Za-z0-9]))*$/u;
const PLAIN_WORD = /[a-z0-9]+/gu;

/** The words of `text`, lower case and in compatibility form (NFKC), in order; numbers count, punctuation does not. */
export function wordsOf(text: string): string[] {
  if (IS_PLAIN.test(text)) return text.toLowerCase().match(PLAIN_WORD) ?? [];
  return segmentedWords(text.normalize("NFKC").toLowerCase());
}

/** The same by the rules of Unicode, for any text. */
export function segmentedWords(text: string): string[] {
  return Array.from(wordSegmenter().segment(text)).flatMap(({ isWordLike, segment }) =>
    isWordLike === true ? [segment] : [],
  );
}

/** The words of `text` that carry a topic, crudely stemmed so that "trips" meets "trip". Stored indexes hold them. */
export function termsOf(text: string): string[] {
  return topicWordsOf(text).map(stem);
}

/** The words of `text` that carry a topic, by their stems (Porter's, for English): "smoking" meets "smoke". */
export function stemsOf(text: string): string[] {
  return topicWordsOf(text).map((word) => (/^[a-z]{4,}$/u.test(word) ? stemmer(word) : word));
}

function topicWordsOf(text: string): string[] {
  return wordsOf(text)
    .map((word) => word.replace(/['’]s$/u, ""))
    .filter((word) => !STOP_WORDS.has(word));
}

function stem(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/u.test(word)) return word;
  return word
    .replace(/(?:ies)$/u, "y")
    .replace(/(?<=[^s])s$/u, "")
    .replace(/(?<=\w{3})(?:ing|ed)$/u, "");
}

/** Two stems are of one word when they share so many letters at the beginning, and so much of the longer one. */
const SHARED_LETTERS = 5;
const SHARED_PART = 0.7;

/** Whether two stems are of one word: "allergic" and "allergies" have two. Numbers are equal or not. */
export function areAlike(a: string, b: string): boolean {
  if (a === b) return true;
  const longest = Math.max(a.length, b.length);
  const wanted = Math.max(SHARED_LETTERS, Math.ceil(longest * SHARED_PART));
  return (
    Math.min(a.length, b.length) >= wanted && a.slice(0, wanted) === b.slice(0, wanted) && !/\d/u.test(a + b)
  );
}

/** A text with its score against a question; more is better, always above 0. */
export interface RankedText<T> {
  readonly item: T;
  readonly score: number;
}

/** What a word counts that stands in the light part of a text. */
export const LIGHT = 0.3;

const K1 = 1.2;
const B = 0.75;

/**
 * Ranks `items` by BM25 (k1 1.2, b 0.75) of `textOf(item)` against the words of `query` in any of their forms; items
 * that share none are left out. Equal scores keep the order of `items`. Of a pair the second text is {@link LIGHT}.
 */
export function rankTexts<T>(
  items: readonly T[],
  query: string,
  textOf: (item: T) => string | readonly [text: string, light: string],
): RankedText<T>[] {
  const queryTerms = [...new Set(stemsOf(query))];
  if (queryTerms.length === 0 || items.length === 0) return [];
  const standsFor = wordForms(queryTerms);
  const documents = items.map((item) => countTerms(textOf(item), standsFor));
  const meanLength = documents.reduce((sum, document) => sum + document.length, 0) / documents.length || 1;
  const weights = queryTerms.map((term) => {
    const holders = documents.filter((document) => document.counts.has(term)).length;
    return Math.log(1 + (documents.length - holders + 0.5) / (holders + 0.5));
  });
  return items
    .map((item, index) => ({ item, score: scoreOf(documents[index], queryTerms, weights, meanLength) }))
    .filter((ranked) => ranked.score > 0)
    .sort((a, b) => b.score - a.score);
}

interface CountedDocument {
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
}

/** The terms of a question that a term is a form of; a term is looked up once. */
function wordForms(queryTerms: readonly string[]): (term: string) => readonly string[] {
  const known = new Map<string, readonly string[]>();
  return (term) => {
    const found = known.get(term) ?? queryTerms.filter((wanted) => areAlike(wanted, term));
    known.set(term, found);
    return found;
  };
}

/** How often each term of the question is in `texts`, in whatever form, and how many terms they have. */
function countTerms(
  texts: string | readonly [text: string, light: string],
  standsFor: (term: string) => readonly string[],
): CountedDocument {
  const counts = new Map<string, number>();
  const [text, light] = typeof texts === "string" ? [texts, ""] : texts;
  const [terms, lightTerms] = [stemsOf(text), light === "" ? [] : stemsOf(light)];
  const add = (wanted: string, weight: number): void =>
    void counts.set(wanted, (counts.get(wanted) ?? 0) + weight);
  for (const wanted of terms.flatMap(standsFor)) add(wanted, 1);
  for (const wanted of lightTerms.flatMap(standsFor)) add(wanted, LIGHT);
  return { counts, length: terms.length + lightTerms.length };
}

function scoreOf(
  document: CountedDocument | undefined,
  terms: readonly string[],
  weights: readonly number[],
  meanLength: number,
): number {
  if (document === undefined) return 0;
  const norm = K1 * (1 - B + (B * document.length) / meanLength);
  return terms.reduce((sum, term, index) => {
    const count = document.counts.get(term) ?? 0;
    return sum + ((weights[index] ?? 0) * count * (K1 + 1)) / (count + norm);
  }, 0);
}

const sentences = new Intl.Segmenter("en", { granularity: "sentence" });

/** The sentences of a text, without white space around them. */
export function sentencesOf(text: string): string[] {
  return Array.from(sentences.segment(text), ({ segment }) => segment.trim()).filter((one) => one !== "");
}

/** Whether a sentence is a question: by its mark, in any script, or by one of ten English openings. */
export function isQuestion(sentence: string): boolean {
  return ENDS_WITH_MARK.test(sentence) || OPENINGS.test(sentence);
}

// In Greek the mark is U+037E, or ";" as keyboards write it.
const ENDS_WITH_MARK = /(?:[?？؟⁇⁈⁉;]|\p{Script=Greek}\s*;)[^\p{L}\p{N}]*$/u;
const OPENINGS =
  /^\W*(?:who(?:se)?|what|which|where|why|how|when (?:is|was|do|does|did)|tell me|(?:am|do) i|is (?:my|the|it))\b/iu;

/** Whether any sentence of a text is a question. */
export function asksSomething(text: string): boolean {
  return sentencesOf(text).some(isQuestion);
}
