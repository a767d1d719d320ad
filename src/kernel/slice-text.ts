/** Cuts text between characters as people see them: no letter loses its marks, no emoji a part of it. */

/** `text` from `from` up to `to`, each moved back to where it splits no character. */
export function sliceWhole(text: string, from: number, to = text.length): string {
  return text.slice(wholeAt(text, from), wholeAt(text, to));
}

const CHARACTERS = new Intl.Segmenter(undefined, { granularity: "grapheme" });
/** Looked at before a place, where nothing plain stands nearer, and behind it. A longer character is split. */
const MOST_BEFORE = 1_024;
const BEHIND = 64;

/** The place itself where it splits no character, else the beginning (-1) or the end (1) of that; within the text. */
export function wholeAt(text: string, place: number, direction: -1 | 1 = -1): number {
  const at = Math.min(Math.max(0, place), text.length);
  if (isBetween(text, at)) return at;
  let from = at - 1;
  while (from > Math.max(0, at - MOST_BEFORE) && !isBetween(text, from)) from -= 1;
  const window = text.slice(from, at + BEHIND);
  const { index = 0, segment = "" } = CHARACTERS.segment(window).containing(at - from) ?? {};
  if (index === at - from) return at;
  const whole = from + index + (direction === 1 ? segment.length : 0);
  const isTooLong =
    direction === 1
      ? segment.length >= BEHIND && whole < text.length
      : index === 0 && from > 0 && !isBetween(text, from);
  return isTooLong ? pairAt(text, at, direction) : whole;
}

/** Below this code nothing joins with what stands before it. */
const FIRST_MARK = 0x300;

/** Whether no character can go across a place, as its neighbours tell. */
function isBetween(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return true;
  const [before, after] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
  return before < FIRST_MARK && after < FIRST_MARK && !(before === 13 && after === 10);
}

function pairAt(text: string, at: number, direction: -1 | 1): number {
  const splits = /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(at - 1, at + 1));
  return splits ? at + direction : at;
}
