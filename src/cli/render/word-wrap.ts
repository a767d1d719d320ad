/** Breaks text between words: a whole one, and an answer as it comes. Code blocks and long words are left to the terminal, so they can be copied. */
import stringWidth from "string-width";
import wrapAnsi from "wrap-ansi";
import { printable } from "../printable.ts";
import type { Screen } from "../screen.ts";

/** Text in pieces, as it is shown. */
export interface WordWrap {
  /** What can be printed now; what is not complete waits. */
  push(piece: string): string;
  /** What still waits. */
  end(): string;
}

const PARTS = /\n|[^\S\n]+|\S+/gu;
const FENCE = "```";
/** A word longer than this, as in scripts without spaces, is printed as it comes. */
const LONGEST_WAIT = 24;

/** Puts line breaks of `columns` in where words would be cut; the last word waits until it is complete. */
export function createWordWrap(columns: number): WordWrap {
  let column = 0;
  let gap = "";
  let word = "";
  /** The line of the text so far, for telling code blocks. */
  let line = "";
  let isCode = false;
  let isWordBegun = false;

  const flush = (): string => {
    const width = stringWidth(word);
    if (width === 0) return "";
    const isTooWide = column > 0 && column + gap.length + width > columns;
    const out = isTooWide && !isCode && !isWordBegun ? `\n${word}` : `${gap}${word}`;
    const reached = out.startsWith("\n") ? width : column + gap.length + width;
    // The terminal itself breaks what is longer than a line; a full line is broken with the next character.
    column = ((reached - 1) % columns) + 1;
    gap = "";
    word = "";
    isWordBegun = true;
    return out;
  };
  const endLine = (): string => {
    const out = `${flush()}\n`;
    if (line.trimStart().startsWith(FENCE)) isCode = !isCode;
    column = 0;
    gap = "";
    line = "";
    isWordBegun = false;
    return out;
  };
  const add = (part: string): string => {
    if (part === "\n") return endLine();
    line += part;
    if (part.trim() !== "") {
      word += part;
      return stringWidth(word) > LONGEST_WAIT ? flush() : "";
    }
    const out = flush();
    gap += part.replaceAll("\t", "    ");
    isWordBegun = false;
    return out;
  };
  return {
    push: (piece) => (piece.match(PARTS) ?? []).map(add).join(""),
    end: flush,
  };
}

/** A whole text with line breaks between words. */
export function wrapWords(text: string, columns: number): string {
  const wrap = createWordWrap(columns);
  return wrap.push(text) + wrap.end();
}

/** `text` wrapped to a terminal between words; elsewhere its lines stay as they are. */
export function wrapped(text: string, screen: Screen): string {
  return screen.isTerminal ? wrapLines(printable(text), screen.columns).join("\n") : printable(text);
}

/** Keeps the indentation of lines; the blank at which a line is broken goes. */
function wrapLines(text: string, width: number): string[] {
  return text.split("\n").flatMap((line) => {
    const [first = "", ...more] = wrapAnsi(line, width, { hard: true, trim: false }).split("\n");
    return [first.trimEnd(), ...more.map((rest) => rest.trim())];
  });
}
