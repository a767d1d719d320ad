/** Cuts text at whole characters as people see them, with code blocks that stay blocks: to a number of tokens, or to the part that says most of what was asked. */
import { estimateTokens, sliceWhole, wholeAt } from "#src/kernel/text.ts";
import { areAlike, stemsOf } from "#src/kernel/words.ts";

/** How a text is cut. */
export interface CutOptions {
  /** Share of what is kept that is taken from the end. */
  readonly tail?: number;
  /** What stands in place of the rest: of the characters from `from` up to `to`. */
  readonly note?: (from: number, to: number) => string;
}

/** `text`, or its beginning and end with a note between them, in at most `tokens`; what has no room for that is the note. */
export function cutText(
  text: string,
  tokens: number,
  { tail = 1 / 3, note = leftOut }: CutOptions = {},
): string {
  if (estimateTokens(text) <= tokens) return text;
  let room = tokens - estimateTokens(note(text.length, text.length)) - 2;
  while (room > 0) {
    const from = endWithin(text, Math.ceil(room * (1 - tail)));
    const to = tail === 0 ? text.length : Math.max(from, beginWithin(text, Math.floor(room * tail)));
    const head = text.slice(0, from);
    const before = openBlock(head).mark;
    const after = to === text.length ? "" : openBlock(text.slice(0, to)).mark;
    const cut = [
      before === "" ? head : `${head}\n${before}`,
      note(from, to),
      `${after === "" ? "" : `${after}\n`}${text.slice(to)}`,
    ].filter((part) => part !== "");
    const joined = cut.join("\n");
    const over = estimateTokens(joined) - tokens;
    if (over <= 0) return joined;
    room -= over;
  }
  return note(0, text.length);
}

function leftOut(from: number, to: number): string {
  return `[… ${to - from} characters left out …]`;
}

/** A token is four characters at most. */
const MOST_CHARACTERS = 4;

/** The largest number up to `most` for which it fits. */
function largest(most: number, fits: (count: number) => boolean): number {
  let [low, high] = [0, most];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** How much of the beginning takes at most `tokens`; to the end of a line, where one is near. */
function endWithin(text: string, tokens: number): number {
  const most = Math.min(text.length, tokens * MOST_CHARACTERS);
  const end = largest(most, (count) => estimateTokens(text.slice(0, count)) <= tokens);
  const line = text.lastIndexOf("\n", end);
  return wholeAt(text, line > end * 0.8 ? line : end);
}

/** Where the end begins that takes at most `tokens`. */
function beginWithin(text: string, tokens: number): number {
  const { length } = text;
  const most = Math.min(length, tokens * MOST_CHARACTERS);
  const begin = length - largest(most, (count) => estimateTokens(text.slice(length - count)) <= tokens);
  const line = text.indexOf("\n", begin) + 1;
  return wholeAt(text, line > 0 && line - begin < (length - begin) * 0.2 ? line : begin, 1);
}

/** The code block in which a text ends: its first line, and the mark that closes it; both `""` when it ends in none. */
function openBlock(text: string): { readonly first: string; readonly mark: string } {
  let open = { first: "", mark: "" };
  for (const [first, mark = ""] of text.matchAll(/^ {0,3}(`{3,}|~{3,}).*$/gmu)) {
    if (open.mark === "") open = { first: first.trim(), mark };
    else if (mark[0] === open.mark[0] && mark.length >= open.mark.length) open = { first: "", mark: "" };
  }
  return open;
}

interface Place {
  readonly at: number;
  /** Which of the wanted words stands there. */
  readonly wanted: number;
}

/**
 * At most about `limit` characters of `text`: the whole where it is that short, else the part with most of the words of
 * `query`, from the beginning of a line, a sentence or a word on; `…` stands for what is left out. A block of code is opened
 * and closed again where the cut goes through it.
 */
export function excerptOf(text: string, query: string, limit: number): string {
  if (text.length <= limit) return text;
  const places = placesOf(text, [...new Set(stemsOf(query))]);
  const start = beginningBefore(text, bestFrom(places, limit), limit);
  const end = endAfter(text, start + limit);
  const { first: fence } = openBlock(text.slice(0, start));
  const shown = [...(fence === "" ? [] : [fence]), sliceWhole(text, start, end).trim()].join("\n");
  const before = start === 0 ? "" : `…${fence === "" ? " " : "\n"}`;
  const { mark } = openBlock(shown);
  const closing = mark === "" ? "" : `\n${mark}`;
  return `${before}${shown}${closing}${end < text.length ? " …" : ""} [part of ${text.length} characters]`;
}

// Runs of letters and digits; in a script without spaces a word is looked for inside its run.
const RUN = /[\p{L}\p{N}\p{M}]+/gu;
const UNSPACED =
  /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]/u;

function placesOf(text: string, wanted: readonly string[]): Place[] {
  return [...text.matchAll(RUN)].flatMap(({ 0: run, index }) => {
    const own = UNSPACED.test(run) ? undefined : stemsOf(run);
    return wanted.flatMap((word, number): Place[] => {
      const within =
        own === undefined ? run.indexOf(word) : own.some((stem) => areAlike(stem, word)) ? 0 : -1;
      return within < 0 ? [] : [{ at: index + within, wanted: number }];
    });
  });
}

/** Where the part begins that has most different words, and among those most words; 0 without any. */
function bestFrom(places: readonly Place[], limit: number): number {
  let best = { at: 0, different: 0, all: 0 };
  for (const [index, { at }] of places.entries()) {
    // Room is left for the beginning of the sentence before it, and for the word itself.
    const within = places.slice(index, index + limit).filter((place) => place.at - at <= limit * 0.75);
    const different = new Set(within.map(({ wanted }) => wanted)).size;
    if (different > best.different || (different === best.different && within.length > best.all))
      best = { at, different, all: within.length };
  }
  return best.at;
}

// What stands before a beginning, the better ones first: a line, a sentence, a word.
const ENDS = [/\n(?=[^\n]*$)/u, /[.!?…]\s+(?=[^.!?…]*$)|[。！？](?=[^。！？]*$)/u, /\s(?=\S*$)/u];

/** The last beginning of a line that is near enough, else of a sentence, else of a word; else the place itself. */
function beginningBefore(text: string, at: number, limit: number): number {
  const near = Math.max(0, at - Math.floor(limit / 5));
  if (near === 0) return 0;
  const before = text.slice(near, at);
  const end = ENDS.map((one) => one.exec(before)).find((found) => found !== null);
  return wholeAt(text, end === undefined ? at : near + end.index + end[0].length);
}

/** Not within a word, nor between a letter and its marks, where the text has an end of a word near by. */
function endAfter(text: string, end: number): number {
  if (end >= text.length) return text.length;
  const last = /\s(?=\S{0,30}$)/u.exec(text.slice(0, end));
  if (last !== null) return last.index;
  return wholeAt(text, end);
}
