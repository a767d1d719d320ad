/** Stands before the line editor and makes each bracketed paste one piece of a line. */
import { StringDecoder } from "node:string_decoder";
import { Transform, type TransformCallback } from "node:stream";
import type { ReadStream } from "node:tty";
import { pastedToLine } from "./paste-text.ts";

/** Asks the terminal to mark what is pasted; not every terminal can. */
export const ENABLE_PASTE_MARKS = "\u001B[?2004h";
/** Takes {@link ENABLE_PASTE_MARKS} back. */
export const DISABLE_PASTE_MARKS = "\u001B[?2004l";

const PASTE_BEGINS = "\u001B[200~";
const PASTE_ENDS = "\u001B[201~";

/** Splits input into keys and pastes, whatever pieces it comes in. Pure but for what it holds back. */
export class PasteScanner {
  #isPaste = false;
  #held = "";

  /** What the line editor is given for `piece`. */
  push(piece: string): string {
    let rest = this.#held + piece;
    let out = "";
    this.#held = "";
    for (;;) {
      const mark = this.#isPaste ? PASTE_ENDS : PASTE_BEGINS;
      const at = rest.indexOf(mark);
      if (at === -1) return out + this.#show(this.#holdBack(rest, mark));
      out += this.#show(rest.slice(0, at));
      this.#isPaste = !this.#isPaste;
      rest = rest.slice(at + mark.length);
    }
  }

  #show(text: string): string {
    return this.#isPaste ? pastedToLine(text) : text;
  }

  /** Keeps an end of `text` that may become `mark`. A lone Escape outside a paste is a key and goes through. */
  #holdBack(text: string, mark: string): string {
    const shortest = this.#isPaste ? 1 : 2;
    for (let length = Math.min(mark.length - 1, text.length); length >= shortest; length -= 1) {
      if (!text.endsWith(mark.slice(0, length))) continue;
      this.#held = text.slice(-length);
      return text.slice(0, -length);
    }
    // A line break may be cut in two.
    if (!this.#isPaste || !text.endsWith("\r")) return text;
    this.#held = "\r";
    return text.slice(0, -1);
  }
}

/** A terminal's input behind a {@link PasteScanner}; raw mode is passed on to the terminal. */
export class PasteFilter extends Transform {
  readonly isTTY = true;
  readonly #scanner = new PasteScanner();
  readonly #decoder = new StringDecoder("utf8");
  readonly #terminal: ReadStream;

  constructor(terminal: ReadStream) {
    super({ decodeStrings: false, encoding: "utf8" });
    this.#terminal = terminal;
    terminal.pipe(this);
  }

  /** Called by the line editor. */
  setRawMode(isRaw: boolean): this {
    this.#terminal.setRawMode(isRaw);
    return this;
  }

  override _transform(chunk: Buffer | string, _encoding: BufferEncoding, done: TransformCallback): void {
    const text = this.#scanner.push(typeof chunk === "string" ? chunk : this.#decoder.write(chunk));
    done(null, text === "" ? undefined : text);
  }

  /** Lets the terminal go, so that the process can end. */
  detach(): void {
    this.#terminal.unpipe(this);
    this.#terminal.pause();
    this.end();
  }
}
