/** A person's words as an FTS5 query that cannot be broken: quoted words, any of which may match. */
import { STOP_WORDS } from "#src/kernel/words.ts";
import { normalizeText, toSearchableText, UNSPACED_RUN } from "./searchable-text.ts";

/** Most words of a question that are looked up; the rest of a long text adds noise and time. */
const MAX_TERMS = 64;

/** Most characters of a question that are read. */
const MAX_QUERY_CHARACTERS = 20_000;

const WORD = new RegExp(`(?<unspaced>${UNSPACED_RUN})|[\\p{L}\\p{N}\\p{M}\\p{Co}]+`, "gu");

// Names that are written as one: LOT-77-A, j.doe@ex.org, 1.2.3. They are looked up whole as well as in parts.
// It begins where a word does: tried at each letter, a question of 20,000 letters without a space would take 13 s.
const COMPOUND = /(?<![\p{L}\p{N}\p{M}])[\p{L}\p{N}\p{M}]+(?:[-\u2010._@/:+][\p{L}\p{N}\p{M}]+)+/gu;

// Words of Chinese and Japanese that nearly every text holds, beside single kana.
const UNSPACED_STOP_WORDS: ReadonlySet<string> = new Set("的了是在我你他她它们和也都吗呢吧不有这那");
const SINGLE_LETTER = /^(?:[a-z]|\p{sc=Hira})$/u;

let segmenter: Intl.Segmenter | undefined;

/** The FTS5 query for any of the words in `text`; `undefined` when it holds no word. */
export function toMatchQuery(text: string): string | undefined {
  const normal = normalizeText(text.slice(0, MAX_QUERY_CHARACTERS)).toLowerCase();
  const words = [...new Set(wordsIn(normal))];
  const telling = words.filter((word) => !isStopWord(word));
  const terms = [...new Set([...compoundsIn(normal), ...(telling.length > 0 ? telling : words)])];
  if (terms.length === 0) return undefined;
  return terms.slice(0, MAX_TERMS).map(quote).join(" OR ");
}

function* wordsIn(text: string): Generator<string> {
  for (const match of text.matchAll(WORD)) {
    if (match.groups?.["unspaced"] === undefined) yield match[0];
    else yield* segment(match[0]);
  }
}

function* segment(run: string): Generator<string> {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "word" });
  for (const part of segmenter.segment(run)) {
    if (part.isWordLike === true) yield part.segment;
  }
}

function compoundsIn(text: string): string[] {
  return (text.match(COMPOUND) ?? []).map((compound) => compound.replaceAll(/[^\p{L}\p{N}\p{M}]+/gu, " "));
}

function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word) || UNSPACED_STOP_WORDS.has(word) || SINGLE_LETTER.test(word);
}

// Only letters, digits, marks and spaces are left by now, so there is nothing to escape.
function quote(term: string): string {
  return `"${toSearchableText(term).trim()}"`;
}
