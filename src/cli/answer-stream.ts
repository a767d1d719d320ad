/** The answer as it comes: made printable, rendered, and remembered, so that it is not shown a second time. */
import stringWidth from "string-width";
import wrapAnsi from "wrap-ansi";
import type { Activity } from "./activity.ts";
import { createPrintableStream, printable } from "./printable.ts";
import { blockLines, blocksOf, type Block } from "./render/answer.ts";
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

/**
 * Lines that may change on a terminal of that size; the cursor stands behind the last one. Both functions return what is
 * to be written.
 */
function createRepaint(screen: Pick<Screen, "columns" | "rows">) {
  let painted: readonly string[] = [];
  const show = (lines: readonly string[]): string => {
    const before = painted;
    painted = lines;
    if (before.length === 0) return lines.join("\n");
    const first = Math.max(sameBegin(before, lines), firstOnScreen(before, screen));
    if (first >= before.length) return ["", ...lines.slice(before.length)].join("\n");
    const [last = ""] = before.slice(first);
    const [next = "", ...more] = lines.slice(first);
    // Text mostly goes on at its end, where the cursor stands.
    if (first === before.length - 1 && next.startsWith(last))
      return [next.slice(last.length), ...more].join("\n");
    const up = before.slice(first).reduce((sum, line) => sum + rowsOf(line, screen.columns), -1);
    return `\r${up > 0 ? `\u001B[${up}A` : ""}\u001B[J${[next, ...more].join("\n")}`;
  };
  return {
    /** Shows `lines` in place of those that stand there. What has left the screen at its top stays as it is. */
    show,
    /** Leaves what stands there; what is shown next begins below it. */
    keep(): string {
      const isEmpty = painted.length === 0;
      painted = [];
      return isEmpty ? "" : "\n";
    },
  };
}

function sameBegin(before: readonly string[], lines: readonly string[]): number {
  const differs = before.findIndex((line, index) => line !== lines[index]);
  return differs === -1 ? before.length : differs;
}

/** The first of the lines that stands on the screen as a whole. */
function firstOnScreen(
  lines: readonly string[],
  { columns, rows }: Pick<Screen, "columns" | "rows">,
): number {
  let used = 0;
  const above = lines.findLastIndex((line) => (used += rowsOf(line, columns)) > rows - 1);
  return above + 1;
}

/** Rows that a terminal needs for a line: a character of two columns does not stand across the border. */
function rowsOf(line: string, columns: number): number {
  if (stringWidth(line) <= columns) return 1;
  return wrapAnsi(line, columns, { hard: true, wordWrap: false, trim: false }).split("\n").length;
}
