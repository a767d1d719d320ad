/** Reads messages from a person at a terminal: edited lines, pastes, continued lines, and lines typed ahead. */
import { createInterface, cursorTo, clearScreenDown, moveCursor, type Interface } from "node:readline";
import type { ReadStream, WriteStream } from "node:tty";
import { completeCommand } from "./completion.ts";
import type { InputHistory } from "./history-file.ts";
import { MutableOutput } from "./mutable-output.ts";
import { DISABLE_PASTE_MARKS, ENABLE_PASTE_MARKS, PasteFilter } from "./paste-filter.ts";
import { lineToText } from "./paste-text.ts";

/** Options of {@link openLineInput}. */
export interface LineInputOptions {
  readonly input: ReadStream;
  readonly output: WriteStream;
  readonly history: InputHistory;
  /** Names that Tab completes; asked at each Tab. */
  readonly commandNames: () => readonly string[];
  /** Ctrl-C while nothing is typed or awaited. */
  readonly onIdleInterrupt: () => void;
  /** Ctrl-C while an answer is awaited. */
  readonly onBusyInterrupt: () => void;
}

/** The input side of an interactive conversation. */
export interface LineInput {
  /** Shows the prompt, if nothing was typed ahead, and waits; `undefined` when the person leaves. */
  next(): Promise<string | undefined>;
  /** Prints text above what is being typed. */
  printAbove(text: string): void;
  /** Whether the prompt is shown. */
  readonly isPrompting: boolean;
  /** Whether the person has left. */
  readonly isClosed: boolean;
  /** Gives the terminal back as it was. Idempotent. */
  close(): void;
}

const PROMPT = "› ";
const MORE_PROMPT = "… ";

/** Takes over the terminal until `close`. */
export function openLineInput(options: LineInputOptions): LineInput {
  return new TerminalLineInput(options);
}

class TerminalLineInput implements LineInput {
  readonly #options: LineInputOptions;
  readonly #filter: PasteFilter;
  readonly #screen: MutableOutput;
  readonly #editor: Interface;
  readonly #ahead: string[] = [];
  /** Lines before this one that ended in a backslash. */
  #begun = "";
  #waiting: ((text: string | undefined) => void) | undefined;
  isClosed = false;

  constructor(options: LineInputOptions) {
    this.#options = options;
    this.#filter = new PasteFilter(options.input);
    this.#screen = new MutableOutput(options.output);
    this.#editor = createInterface({
      input: this.#filter,
      output: this.#screen,
      terminal: true,
      prompt: PROMPT,
      history: options.history.load(),
      historySize: 500,
      removeHistoryDuplicates: true,
      completer: (line: string) => completeCommand(line, options.commandNames()),
    });
    options.output.write(ENABLE_PASTE_MARKS);
    this.#editor.on("line", (line) => this.#take(line));
    this.#editor.on("SIGINT", () => this.#interrupt());
    this.#editor.on("close", () => this.close());
  }

  get isPrompting(): boolean {
    return this.#waiting !== undefined;
  }

  async next(): Promise<string | undefined> {
    const typed = this.#ahead.shift();
    if (typed !== undefined) {
      this.#options.output.write(`${PROMPT}${typed.replaceAll("\n", `\n${MORE_PROMPT}`)}\n`);
      return typed;
    }
    if (this.isClosed) return undefined;
    return new Promise((resolve) => {
      this.#waiting = resolve;
      this.#showPrompt();
    });
  }

  printAbove(text: string): void {
    const { output } = this.#options;
    if (!this.isPrompting) return void output.write(`${text}\n`);
    const { rows } = this.#editor.getCursorPos();
    moveCursor(output, 0, -rows);
    cursorTo(output, 0);
    clearScreenDown(output);
    // The editor goes up as many rows as the cursor was in before it draws the line again.
    output.write(`${text}\n${"\n".repeat(rows)}`);
    this.#editor.prompt(true);
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#editor.close();
    this.#filter.detach();
    this.#options.output.write(`${DISABLE_PASTE_MARKS}${this.isPrompting ? "\n" : ""}`);
    this.#deliver(undefined);
  }

  #showPrompt(): void {
    this.#screen.isMuted = false;
    this.#editor.setPrompt(this.#begun === "" ? PROMPT : MORE_PROMPT);
    this.#editor.prompt(true);
  }

  #take(line: string): void {
    this.#options.history.add(line);
    if (line.endsWith("\\")) {
      this.#begun += `${lineToText(line.slice(0, -1))}\n`;
      if (this.isPrompting) this.#showPrompt();
      return;
    }
    const text = this.#begun + lineToText(line);
    this.#begun = "";
    if (text.trim() === "") {
      if (this.isPrompting) this.#showPrompt();
      return;
    }
    if (this.isPrompting) this.#deliver(text);
    else this.#ahead.push(text);
  }

  #deliver(text: string | undefined): void {
    const resolve = this.#waiting;
    this.#waiting = undefined;
    // What is typed while an answer is written must not be echoed into it.
    this.#screen.isMuted = true;
    resolve?.(text);
  }

  #interrupt(): void {
    if (!this.isPrompting) return this.#options.onBusyInterrupt();
    if (this.#editor.line === "" && this.#begun === "") return this.#options.onIdleInterrupt();
    this.#begun = "";
    this.#editor.write(null, { ctrl: true, name: "e" });
    this.#editor.write(null, { ctrl: true, name: "u" });
    this.#showPrompt();
  }
}
