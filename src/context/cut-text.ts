/** Cuts text to a number of tokens: at whole characters as people see them, with code blocks that stay blocks. */
import { wholeAt } from "#src/kernel/slice-text.ts";
import { estimateTokens } from "#src/kernel/tokens.ts";

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
    const [before, after] = [openFence(head), to === text.length ? "" : openFence(text.slice(0, to))];
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

/** How much of the beginning takes at most `tokens`; to the end of a line, where one is near. */
function endWithin(text: string, tokens: number): number {
  let [low, high] = [0, Math.min(text.length, tokens * MOST_CHARACTERS)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (estimateTokens(text.slice(0, middle)) <= tokens) low = middle;
    else high = middle - 1;
  }
  const line = text.lastIndexOf("\n", low);
  return wholeAt(text, line > low * 0.8 ? line : low);
}

/** Where the end begins that takes at most `tokens`. */
function beginWithin(text: string, tokens: number): number {
  let [low, high] = [Math.max(0, text.length - tokens * MOST_CHARACTERS), text.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (estimateTokens(text.slice(middle)) <= tokens) high = middle;
    else low = middle + 1;
  }
  const line = text.indexOf("\n", low) + 1;
  return wholeAt(text, line > 0 && line - low < (text.length - low) * 0.2 ? line : low, 1);
}

/** The mark that closes the code block in which a text ends; `""` when it ends in none. */
function openFence(text: string): string {
  let open = "";
  for (const [, mark = ""] of text.matchAll(/^ {0,3}(`{3,}|~{3,})/gmu)) {
    if (open === "") open = mark;
    else if (mark[0] === open[0] && mark.length >= open.length) open = "";
  }
  return open;
}
