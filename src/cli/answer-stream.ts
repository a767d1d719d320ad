/** The answer as it comes: made printable, rendered, and remembered, so that it is not shown a second time. */
import type { Activity } from "./activity.ts";
import { createPrintableStream, printable } from "./printable.ts";
import { blockLines, blocksOf, type Block } from "./render/answer.ts";
import { createRepaint } from "./render/repaint.ts";
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
  readonly #printable = createPrintableStream();
  #shown: WordWrap;
  /** What came since the last tool ran. */
  #text = "";
  #isMidLine = false;

  constructor(options: AnswerStreamOptions) {
    this.#options = options;
    this.#shown = createShown(options.screen);
  }

  /** Writes the next piece, as far as it can be told what it is. */
  push(text: string): void {
    const piece = this.#printable(text);
    // A blank beginning is not worth the spinner's place.
    if (this.#text.trim() === "" && piece.trim() === "") return;
    this.#text += piece;
    this.#print(this.#shown.push(piece));
  }

  /** Ends the line that is being written, so that something else can stand below. */
  endLine(): void {
    this.#print(this.#shown.end());
    if (this.#isMidLine) this.#print("\n");
    this.#shown = createShown(this.#options.screen);
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

function createShown(screen: Screen): WordWrap {
  return screen.isPlain ? createWordWrap(screen.columns) : new RenderedAnswer(screen);
}

/** Markdown as it comes: blocks that are complete stay, the last one is painted anew with each piece. */
class RenderedAnswer implements WordWrap {
  readonly #screen: Screen;
  readonly #open: ReturnType<typeof createRepaint>;
  /** What is not complete yet. */
  #source = "";
  #isBegun = false;
  #isShowing = false;

  constructor(screen: Screen) {
    this.#screen = screen;
    this.#open = createRepaint(screen);
  }

  push(piece: string): string {
    this.#source += piece.replaceAll("\t", "    ");
    const certain = this.#source.replace(UNCERTAIN, "");
    const { blocks, lastAt } = blocksOf(certain);
    const open = blocks.at(-1);
    if (open === undefined) return "";
    const written = blocks.slice(0, -1).map((block) => this.#complete(block));
    // The widths of a table change with each row; its first row may be the begin of a paragraph still.
    if (open.type !== "table" && !open.raw.trimStart().startsWith("|")) written.push(this.#show(open));
    // From the block on, with what is uncertain behind it.
    this.#source = this.#source.slice(lastAt);
    return written.join("");
  }

  end(): string {
    const written = blocksOf(this.#source).blocks.map((block) => this.#complete(block));
    this.#source = "";
    return written.join("");
  }

  #complete(block: Block): string {
    const shown = this.#show(block);
    this.#isShowing = false;
    return shown + this.#open.keep();
  }

  #show(block: Block): string {
    const gap = this.#isBegun && !this.#isShowing ? "\n" : "";
    this.#isBegun = true;
    this.#isShowing = true;
    return gap + this.#open.show(blockLines(block, this.#screen));
  }
}

/** At the end of what has come: the begin of a line, or a mark, of which only more of the text says what it is. */
const UNCERTAIN = /(?:(?:^|\n) *[-=+*#>`~|\d.)]{1,3} ?|[*_`~[|]+)$/u;
