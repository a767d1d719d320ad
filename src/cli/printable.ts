/** Makes text from models, transcripts and errors safe to print: it cannot control the terminal. */
/* oxlint-disable no-control-regex -- removing them is what this file is for */

// Control sequences (colours, cursor), strings to the terminal (titles, links) and other escapes. Node's own
// stripVTControlCharacters also takes the text between a control sequence and a later bell.
const ESCAPES =
  /(?:\u001B\[|\u009B)[0-?]*[ -/]*[@-~]|\u001B[\]PX^_][^\u0007\u001B]*(?:\u0007|\u001B\\)|\u001B[ -/]*[0-~]/gu;

// C0 but for tab and newline, DEL, and C1, whose 0x9b begins a control sequence by itself.
const CONTROLS = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/gu;

/** `text` without escape sequences and control characters; tabs and line breaks stay. */
export function printable(text: string): string {
  return text.replaceAll(ESCAPES, "").replaceAll("\r\n", "\n").replaceAll(CONTROLS, "");
}

/** {@link printable} on one line: every run of white space is one space. */
export function printableLine(text: string): string {
  return printable(text).replaceAll(/\s+/gu, " ").trim();
}

/** Makes a stream of pieces printable, as they come. */
export interface PrintableStream {
  /** What can be printed now. Half a surrogate pair waits for its other half. */
  push(piece: string): string;
}

/** Makes a {@link PrintableStream}. */
export function createPrintableStream(): PrintableStream {
  let held = "";
  return {
    push(piece) {
      const text = held + piece;
      held = /[\uD800-\uDBFF]$/u.test(text) ? text.slice(-1) : "";
      return printable(held === "" ? text : text.slice(0, -1));
    },
  };
}
