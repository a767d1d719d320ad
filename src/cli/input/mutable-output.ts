/** The terminal as the line editor sees it: it can be told to write nothing for a while. */
import { Writable } from "node:stream";
import type { WriteStream } from "node:tty";

/** Passes writes and size on to a terminal, unless muted. */
export class MutableOutput extends Writable {
  readonly isTTY = true;
  isMuted = false;
  readonly #terminal: WriteStream;

  constructor(terminal: WriteStream) {
    super({ decodeStrings: false });
    this.#terminal = terminal;
    terminal.on("resize", () => this.emit("resize"));
  }

  /** Characters a line; the line editor asks. */
  get columns(): number {
    return this.#terminal.columns;
  }

  override _write(chunk: Buffer | string, _encoding: BufferEncoding, done: () => void): void {
    if (!this.isMuted) this.#terminal.write(chunk);
    done();
  }
}
