/** The terminal's input as the line editor reads it: keys only; pastes go another way. */
import { StringDecoder } from "node:string_decoder";
import { Readable } from "node:stream";
import type { ReadStream } from "node:tty";
import { PasteScanner } from "./paste-scanner.ts";

/** Keys in longer pieces are a paste that the terminal did not mark, and are handed on as one piece. */
const MOST_KEYS = 64;

/**
 * Emits `data` at once and key by key, without a buffer between: the line editor puts keys that come in one piece at
 * the end of the line, wherever the cursor is, and pastes must not overtake keys.
 */
export class TerminalKeys extends Readable {
  readonly isTTY = true;
  readonly #terminal: ReadStream;
  readonly #scanner = new PasteScanner();
  readonly #decoder = new StringDecoder("utf8");
  readonly #onPaste: (line: string) => void;

  constructor(terminal: ReadStream, onPaste: (line: string) => void) {
    super();
    this.#terminal = terminal;
    this.#onPaste = onPaste;
    terminal.on("data", this.#take);
    terminal.on("end", this.#end);
  }

  /** Called by the line editor. */
  setRawMode(isRaw: boolean): this {
    this.#terminal.setRawMode(isRaw);
    return this;
  }

  override _read(): void {
    // Data is emitted as it comes.
  }

  /** Lets the terminal go, so that the process can end. */
  detach(): void {
    this.#terminal.off("data", this.#take);
    this.#terminal.off("end", this.#end);
    this.#terminal.pause();
  }

  readonly #take = (chunk: Buffer | string): void => {
    const input = typeof chunk === "string" ? chunk : this.#decoder.write(chunk);
    for (const { kind, text } of this.#scanner.push(input)) {
      if (kind === "paste") this.#onPaste(text);
      else for (const key of text.length > MOST_KEYS ? [text] : text) this.emit("data", key);
    }
  };

  readonly #end = (): void => void this.emit("end");
}
