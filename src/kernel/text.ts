/** How much text is: tokens by an estimate, and where it may be cut so that no letter loses its marks and no emoji a part. */

/** Tokens that each message costs beside its text: role and separators of the chat format. */
export const MESSAGE_OVERHEAD_TOKENS = 4;

/** Tokens that a picture, recording or file counts: providers take 765 for a picture of 1024 × 1024, some more. */
export const ATTACHMENT_TOKENS = 1_000;

const WIDE_SCRIPTS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Extended_Pictographic}]/gu;

/** Most of a prompt, of which nothing has to be looked for. */
const ASCII_ONLY = /^\p{ASCII}*$/u;

/**
 * Estimated tokens of `text`: one for four characters of alphabetic text, one for each character of scripts that
 * tokenizers split finely. Errs high by about a tenth on English prose.
 */
export function estimateTokens(text: string): number {
  if (ASCII_ONLY.test(text)) return Math.ceil(text.length / 4);
  const wide = text.match(WIDE_SCRIPTS)?.length ?? 0;
  return wide + Math.ceil((text.length - wide) / 4);
}

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
