/** Makes text from models, transcripts and errors safe to print: it cannot control the terminal. */
/* oxlint-disable no-control-regex -- removing them is what this file is for */

// Control sequences (colours, cursor), strings to the terminal (titles, links) and other escapes. Node's own
// stripVTControlCharacters also takes the text between a control sequence and a later bell.
const ESCAPES =
  /(?:\u001B\[|\u009B)[0-?]*[ -/]*[@-~]|\u001B[\]PX^_][^\u0007\u001B]{0,2000}(?:\u0007|\u001B\\)|\u001B[ -/]*[0-OQ-WYZ\\`-~]/gu;

// The beginning of one at the end of a text. A string that is longer than any title or link is text.
const BEGUN_ESCAPE =
  /(?:(?:\u001B\[|\u009B)[0-?]*[ -/]*|\u001B[\]PX^_][^\u0007\u001B]{0,2000}\u001B?|\u001B[ -/]*)$/u;

// C0 but for tab and newline, DEL, C1, whose 0x9b begins a control sequence by itself, and what turns the direction of
// the text around it, so that it reads as something else.
const CONTROLS = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/gu;

/** `text` without escape sequences, also one that is cut off, and control characters; tabs and line breaks stay. */
export function printable(text: string): string {
  const unescaped = text.replaceAll(ESCAPES, "").replace(BEGUN_ESCAPE, "");
  return unescaped.replaceAll("\r\n", "\n").replaceAll(CONTROLS, "");
}

/** {@link printable} on one line: every run of white space is one space. */
export function printableLine(text: string): string {
  return printable(text).replaceAll(/\s+/gu, " ").trim();
}

/** A session key on one line; in quotation marks where blanks at its ends would not be seen. */
export function printableKey(key: string): string {
  return key === key.trim() ? printableLine(key) : JSON.stringify(printable(key));
}

const HALF_CHARACTER = /[\uD800-\uDBFF]$/u;

/**
 * Makes pieces printable, as they come: of each, what can be printed now. Half a surrogate pair, or half an escape
 * sequence, waits for its other half.
 */
export function createPrintableStream(): (piece: string) => string {
  let held = "";
  return (piece) => {
    const text = held + piece;
    const [half = ""] = HALF_CHARACTER.exec(text) ?? BEGUN_ESCAPE.exec(text.replaceAll(ESCAPES, "")) ?? [];
    held = half;
    return printable(text.slice(0, text.length - half.length));
  };
}
