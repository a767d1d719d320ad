/** The part of a long text that says most of what was asked, cut where it does no harm. */
import { sliceWhole, wholeAt } from "#src/kernel/slice-text.ts";
import { areAlike, stemsOf } from "#src/kernel/words.ts";

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
  const first = bestFrom(places, limit);
  const start = first === undefined ? 0 : beginningBefore(text, first, limit);
  const end = endAfter(text, start + limit);
  const fence = openFence(text.slice(0, start));
  const shown = [...(fence === "" ? [] : [fence]), sliceWhole(text, start, end).trim()].join("\n");
  const before = start === 0 ? "" : `…${fence === "" ? " " : "\n"}`;
  const closing = openFence(shown) === "" ? "" : "\n```";
  return `${before}${shown}${closing}${end < text.length ? " …" : ""} [part of ${text.length} characters]`;
}

// Runs of letters and digits; in a script without spaces a word is looked for inside its run.
const RUN = /[\p{L}\p{N}\p{M}]+/gu;
const UNSPACED =
  /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]/u;

function placesOf(text: string, wanted: readonly string[]): Place[] {
  const known = new Map<string, readonly number[]>();
  const places: Place[] = [];
  for (const { 0: run, index } of text.matchAll(RUN)) {
    if (UNSPACED.test(run)) {
      for (const [number, word] of wanted.entries()) {
        const within = run.indexOf(word);
        if (within >= 0) places.push({ at: index + within, wanted: number });
      }
      continue;
    }
    const found = known.get(run) ?? formsIn(run, wanted);
    known.set(run, found);
    for (const number of found) places.push({ at: index, wanted: number });
  }
  return places;
}

function formsIn(run: string, wanted: readonly string[]): number[] {
  const own = stemsOf(run);
  return wanted.flatMap((word, number) => (own.some((stem) => areAlike(stem, word)) ? [number] : []));
}

/** Where the part begins that has most different words, and among those most words. */
function bestFrom(places: readonly Place[], limit: number): number | undefined {
  const counts = new Map<number, number>();
  let best: { readonly at: number; readonly different: number; readonly all: number } | undefined;
  let from = 0;
  for (const [to, place] of places.entries()) {
    counts.set(place.wanted, (counts.get(place.wanted) ?? 0) + 1);
    // Room is left for the beginning of the sentence before it, and for the word itself.
    while (place.at - (places[from]?.at ?? place.at) > limit * 0.75) {
      const left = places[from]?.wanted ?? 0;
      const count = (counts.get(left) ?? 1) - 1;
      if (count === 0) counts.delete(left);
      else counts.set(left, count);
      from += 1;
    }
    const all = to - from + 1;
    if (
      best === undefined ||
      counts.size > best.different ||
      (counts.size === best.different && all > best.all)
    )
      best = { at: places[from]?.at ?? 0, different: counts.size, all };
  }
  return best?.at;
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

/** The line that opened the block of code that is still open at the end of a text; `""` where none is. */
function openFence(text: string): string {
  const fences = text.match(/^[ \t]*```.*$/gmu) ?? [];
  return fences.length % 2 === 0 ? "" : (fences.at(-1) ?? "").trim();
}
