/** What a summary of a person's words must not lose: names, codes, numbers, dates and quoted words. By their form, in any script. */
import { STOP_WORDS } from "#src/kernel/words.ts";

/** How much its loss would matter: 1 codes, dates, amounts and quoted words; 2 names; 3 small numbers; 4 what may be a name. */
export type Tier = 1 | 2 | 3 | 4;

/** A place in a text. */
export interface Identifier {
  readonly text: string;
  readonly start: number;
  readonly tier: Tier;
}

/** Scripts in which words stand without spaces: a code between their letters is none of them. */
const UNSPACED =
  "\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Hangul}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}";
const LETTER = `(?:(?![${UNSPACED}])[\\p{L}\\p{N}\\p{M}])`;
const URL = /https?:\/\/[^\s<>"'`“”«»)\]]+/u;
const QUOTED =
  /"[^"\n]{1,60}"|“[^”\n]{1,60}”|„[^“”\n]{1,60}[“”]|«[^»\n]{1,60}»|「[^」\n]{1,60}」|`[^`\n]{1,60}`/u;
const KATAKANA = /\p{sc=Katakana}[\p{sc=Katakana}ー・]+/u;
const DATE = /(?:\p{N}{1,4}[年月日時时分년월일시]\s?)+/u;
const WORD = new RegExp(`[#@$€£+]?${LETTER}+(?:[-_./:@#+'’&=~,·]+${LETTER}+)*%?`, "u");
const TOKEN = new RegExp(
  [URL, QUOTED, KATAKANA, DATE, WORD].map(({ source }) => `(?:${source})`).join("|"),
  "gu",
);

const DIGIT = /\p{N}/u;
const SMALL_NUMBER = /^#?\p{N}{1,3}$/u;
const CAPITALS = /^\p{Lu}[\p{Lu}'’.&-]*\p{Lu}$/u;
const MIXED = /\p{Ll}\p{Lu}|^#\p{L}|[_@]|\p{L}{2}[./]\p{L}+[./]|\p{L}{3}\.\p{L}/u;
const CAPITALISED = /^\p{Lu}\p{M}*(?:\p{Ll}|['’]\p{Lu})/u;
const LOWER = /\p{Ll}/u;
/** What stands between two words where a sentence ends, or a line. */
const SENTENCE_END = /[.!?…:;。！？]["”»)\]]*\s+[("“«„]?$|\n\s*(?:[-*>#•]+\s*)?[("“«„]?$/u;

/** Above this share of capital letters within sentences they mark nouns (German), or a title, and no names. */
const NOUN_SHARE = 0.15;
const LEAST_WORDS = 60;

/** Finds them in texts that are one person's; each text's own, in the order in which they stand. */
export function identifiersIn(texts: readonly string[]): Identifier[][] {
  const words = texts.map(wordsIn);
  const all = words.flat();
  const inner = all.filter(({ begins }) => !begins);
  const share = inner.filter(({ text }) => CAPITALISED.test(text)).length / Math.max(1, inner.length);
  const nameTier = inner.length >= LEAST_WORDS && share > NOUN_SHARE ? 4 : 2;
  const written = new Set(all.map(({ text }) => text));
  return words.map((of, index) => {
    const hasLower = LOWER.test(texts[index] ?? "");
    return of.flatMap(({ text, start, begins }) => {
      const tier = tierOf(text, { begins, nameTier, hasLower, written });
      return tier === undefined ? [] : [{ text: bare(text), start, tier }];
    });
  });
}

interface Word {
  readonly text: string;
  readonly start: number;
  /** It is the first of its sentence. */
  readonly begins: boolean;
}

function wordsIn(text: string): Word[] {
  let end = 0;
  const words: Word[] = [];
  for (const match of text.matchAll(TOKEN)) {
    const begins = words.length === 0 || SENTENCE_END.test(text.slice(Math.max(0, end - 1), match.index));
    words.push({ text: match[0], start: match.index, begins });
    end = match.index + match[0].length;
  }
  return words;
}

interface Surroundings {
  readonly begins: boolean;
  readonly nameTier: Tier;
  readonly hasLower: boolean;
  /** All words, as they are written. */
  readonly written: ReadonlySet<string>;
}

function tierOf(text: string, around: Surroundings): Tier | undefined {
  if (SMALL_NUMBER.test(text)) return 3;
  if (URL.test(text) || QUOTED.test(text) || DIGIT.test(text)) return 1;
  if (KATAKANA.test(text)) return 2;
  const { hasLower } = around;
  if (MIXED.test(text) || (hasLower && CAPITALS.test(text))) return 1;
  if (!CAPITALISED.test(text)) return undefined;
  const { begins, nameTier, written } = around;
  if (!begins) return nameTier;
  const lower = text.toLowerCase();
  return STOP_WORDS.has(lower.replace(/['’].*$/u, "")) || written.has(lower) ? undefined : 4;
}

/** Without the marks around quoted words, and without what ends a sentence behind an address. */
function bare(text: string): string {
  if (QUOTED.test(text)) return text.slice(1, -1).trim() || text;
  return URL.test(text) ? text.replace(/[.,;:!?]+$/u, "") : text.trim();
}

/** A text in which case and width do not count. */
const folded = (text: string): string => text.normalize("NFKC").toLowerCase();

const BESIDE = /[\p{L}\p{N}\p{M}]/u;
const IS_UNSPACED = new RegExp(`[${UNSPACED}]`, "u");

/** Tells whether an identifier stands in `text` by itself: `47` does not in `4711`. */
export function holdsIn(text: string): (identifier: string) => boolean {
  const within = folded(text);
  return (identifier) => {
    const wanted = folded(identifier);
    if (wanted === "") return false;
    for (let at = within.indexOf(wanted); at >= 0; at = within.indexOf(wanted, at + 1)) {
      const before = charBefore(within, at);
      const [after = ""] = within.slice(at + wanted.length);
      if (isBorder(before, wanted[0] ?? "") && isBorder(after, wanted.at(-1) ?? "")) return true;
    }
    return false;
  };
}

const charBefore = (text: string, at: number): string =>
  /.$/su.exec(text.slice(Math.max(0, at - 2), at))?.[0] ?? "";

function isBorder(beside: string, edge: string): boolean {
  return !BESIDE.test(beside) || !BESIDE.test(edge) || IS_UNSPACED.test(beside) || IS_UNSPACED.test(edge);
}
