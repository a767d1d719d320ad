/** Tells what is typed from what is pasted, where the terminal marks pastes. */
import { pastedToLine } from "./paste-text.ts";

/** A piece of input: keys for the line editor to obey, or a paste as the line shows it. */
export interface InputPiece {
  readonly kind: "keys" | "paste";
  readonly text: string;
}

const PASTE_BEGINS = "\u001B[200~";
const PASTE_ENDS = "\u001B[201~";

/** Splits input into {@link InputPiece}s, however it is cut. Holds back an end that may belong to a mark. */
export class PasteScanner {
  #isPaste = false;
  #held = "";

  /** The pieces that are complete with `input`, in order, none of them empty. */
  push(input: string): InputPiece[] {
    let rest = this.#held + input;
    this.#held = "";
    const pieces: InputPiece[] = [];
    for (;;) {
      const mark = this.#isPaste ? PASTE_ENDS : PASTE_BEGINS;
      const at = rest.indexOf(mark);
      const text = at === -1 ? this.#holdBack(rest, mark) : rest.slice(0, at);
      const piece = this.#pieceOf(text);
      if (piece.text !== "") pieces.push(piece);
      if (at === -1) return pieces;
      this.#isPaste = !this.#isPaste;
      rest = rest.slice(at + mark.length);
    }
  }

  #pieceOf(text: string): InputPiece {
    return this.#isPaste ? { kind: "paste", text: pastedToLine(text) } : { kind: "keys", text };
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
