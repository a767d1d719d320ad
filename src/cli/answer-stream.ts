/** The answer as it comes: made printable, wrapped, and remembered, so that it is not shown a second time. */
import type { Activity } from "./activity.ts";
import { createPrintableStream, printable } from "./printable.ts";
import { createWordWrap, type WordWrap } from "./render/word-wrap.ts";
import type { Screen } from "./screen.ts";

/** Where an answer is written. */
export interface AnswerStreamOptions {
  readonly write: (text: string) => void;
  readonly screen: Screen;
  readonly activity: Activity;
}

/** An answer that is being written. */
export class AnswerStream {
  readonly #options: AnswerStreamOptions;
  readonly #pieces = createPrintableStream();
  #wrap: WordWrap;
  /** What came since the last tool ran. */
  #text = "";
  #isMidLine = false;

  constructor(options: AnswerStreamOptions) {
    this.#options = options;
    this.#wrap = createWordWrap(options.screen.columns);
  }

  /** Writes the next piece, as far as it ends in a whole word. */
  push(text: string): void {
    const piece = this.#pieces.push(text);
    // A blank beginning is not worth the spinner's place.
    if (this.#text.trim() === "" && piece.trim() === "") return;
    this.#text += piece;
    this.#print(this.#wrap.push(piece));
  }

  /** Ends the line that is being written, so that something else can stand below. */
  endLine(): void {
    this.#print(this.#wrap.end());
    if (this.#isMidLine) this.#print("\n");
    this.#wrap = createWordWrap(this.#options.screen.columns);
  }

  /** What comes now is another message. */
  restart(): void {
    this.endLine();
    this.#text = "";
  }

  /** Whether `message` is what was written. */
  is(message: string): boolean {
    return printable(message).trim() === this.#text.trim();
  }

  #print(text: string): void {
    if (text === "") return;
    this.#options.activity.hide();
    this.#options.write(text);
    this.#isMidLine = !text.endsWith("\n");
  }
}
