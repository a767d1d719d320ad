/** Reads messages from a person at a terminal: edited lines, pastes, continued lines, and lines typed ahead. */
import { createInterface, type Interface } from "node:readline";
import type { ReadStream, WriteStream } from "node:tty";
import { completeCommand } from "./completion.ts";
import { clearEditedLine, insertIntoLine, leaveEditedLine } from "./edited-line.ts";
import type { InputHistory } from "./history-file.ts";
import { MutableOutput } from "./mutable-output.ts";
import { lineToText } from "./paste-text.ts";
import { TerminalKeys } from "./terminal-keys.ts";

/** Options of {@link LineInput}. */
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
  /** What is typed while an answer is awaited: `true` when it was for that answer, else it waits its turn. */
  readonly takesWhileBusy?: (text: string) => boolean;
}

const PROMPT = "› ";
const MORE_PROMPT = "… ";
// Asks the terminal to mark what is pasted; not every terminal can.
const ENABLE_PASTE_MARKS = "\u001B[?2004h";
const DISABLE_PASTE_MARKS = "\u001B[?2004l";

/** The input side of an interactive conversation. Takes over the terminal until `close`. */
export class LineInput {
  readonly #options: LineInputOptions;
  readonly #keys: TerminalKeys;
  readonly #screen: MutableOutput;
  readonly #editor: Interface;
  readonly #ahead: string[] = [];
  /** Lines before this one that ended in a backslash. */
  #begun = "";
  #waiting: ((text: string | undefined) => void) | undefined;
  #isClosed = false;

  constructor(options: LineInputOptions) {
    this.#options = options;
    this.#keys = new TerminalKeys(options.input, (line) => this.#paste(line));
    this.#screen = new MutableOutput(options.output);
    this.#editor = createInterface({
      input: this.#keys,
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
    this.#editor.on("SIGCONT", () => options.output.write(ENABLE_PASTE_MARKS));
    this.#editor.on("close", () => this.close());
  }

  /** Whether the prompt is shown. */
  get isPrompting(): boolean {
    return this.#waiting !== undefined;
  }

  /** Whether the person has left. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Shows the prompt, if nothing was typed ahead, and waits; `undefined` when the person leaves. */
  async next(): Promise<string | undefined> {
    const typed = this.#ahead.shift();
    if (typed !== undefined) {
      this.#options.output.write(`${PROMPT}${typed.replaceAll("\n", `\n${MORE_PROMPT}`)}\n`);
      return typed;
    }
    if (this.#isClosed) return undefined;
    return new Promise((resolve) => {
      this.#waiting = resolve;
      this.#showPrompt();
    });
  }

  /** Prints text above what is being typed. */
  printAbove(text: string): void {
    const { output } = this.#options;
    if (this.isPrompting) leaveEditedLine(this.#editor, output);
    output.write(`${text}\n`);
    if (this.isPrompting) this.#editor.prompt(true);
  }

  /** Gives the terminal back as it was. Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#editor.close();
    this.#keys.detach();
    this.#options.output.write(`${DISABLE_PASTE_MARKS}${this.isPrompting ? "\n" : ""}`);
    this.#deliver(undefined);
  }

  #showPrompt(): void {
    this.#screen.isMuted = false;
    this.#editor.setPrompt(this.#begun === "" ? PROMPT : MORE_PROMPT);
    this.#editor.prompt(true);
  }

  #paste(line: string): void {
    if (!this.#isClosed) insertIntoLine(this.#editor, line);
  }

  #take(line: string): void {
    this.#options.history.add(line);
    const isContinued = line.endsWith("\\");
    const text = this.#begun + lineToText(isContinued ? line.slice(0, -1) : line);
    this.#begun = isContinued ? `${text}\n` : "";
    if (isContinued || text.trim() === "") {
      if (this.isPrompting) this.#showPrompt();
    } else if (this.isPrompting) this.#deliver(text);
    else if (this.#options.takesWhileBusy?.(text) !== true) this.#ahead.push(text);
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
    this.#editor.setPrompt(PROMPT);
    clearEditedLine(this.#editor);
  }
}
