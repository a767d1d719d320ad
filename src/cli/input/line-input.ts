/** Reads messages from a person at a terminal: edited lines, pastes, continued lines, and lines typed ahead. */
import { createInterface, type Interface } from "node:readline";
import type { ReadStream, WriteStream } from "node:tty";
import { completeCommand } from "./completion.ts";
import {
  clearEditedLine,
  dropFromHistory,
  dropSayingFromHistory,
  insertIntoLine,
  leaveEditedLine,
} from "./edited-line.ts";
import type { InputHistory } from "./history-file.ts";
import { MutableOutput } from "./mutable-output.ts";
import { linesWithout } from "./lines-without.ts";
import { lineToText } from "./paste-text.ts";
import { TerminalKeys } from "./terminal-keys.ts";

/** Options of {@link LineInput}. */
export interface LineInputOptions {
  readonly input: ReadStream;
  readonly output: WriteStream;
  readonly history: Pick<InputHistory, "load" | "add">;
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

/** A message with the lines of which it was made. */
interface Typed {
  readonly text: string;
  readonly lines: readonly string[];
}

/** The input side of an interactive conversation. Takes over the terminal until `close`. */
export class LineInput {
  readonly #options: LineInputOptions;
  readonly #keys: TerminalKeys;
  readonly #screen: MutableOutput;
  readonly #editor: Interface;
  readonly #ahead: Typed[] = [];
  /** Lines before this one that ended in a backslash. */
  #begun = "";
  #begunLines: readonly string[] = [];
  /** Lines of the message in hand. They are kept once it is over: until then nobody knows whether it holds a secret. */
  #unkept: readonly string[] = [];
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
    this.#keep();
    const typed = this.#ahead.shift();
    if (typed !== undefined) {
      this.#unkept = typed.lines;
      this.#options.output.write(`${PROMPT}${typed.text.replaceAll("\n", `\n${MORE_PROMPT}`)}\n`);
      return typed.text;
    }
    if (this.#isClosed) return undefined;
    return new Promise((resolve) => {
      this.#waiting = resolve;
      this.#showPrompt();
    });
  }

  /** Keeps no line of the message that `next` gave last, neither in the file nor for the arrow keys. */
  forgetLast(): void {
    for (const line of this.#unkept) dropFromHistory(this.#editor, line);
    this.#unkept = [];
  }

  /** Forgets the lines that `says` holds of: those that the arrow keys bring back, and those of the message in hand. */
  forgetSaying(says: (line: string) => boolean): void {
    dropSayingFromHistory(this.#editor, says);
    this.#unkept = linesWithout(this.#unkept, says);
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
    this.#keep();
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
    const isContinued = line.endsWith("\\");
    const text = this.#begun + lineToText(isContinued ? line.slice(0, -1) : line);
    const lines = [...this.#begunLines, line];
    this.#begun = isContinued ? `${text}\n` : "";
    this.#begunLines = isContinued ? lines : [];
    if (isContinued || text.trim() === "") {
      if (this.isPrompting) this.#showPrompt();
    } else if (this.isPrompting) {
      this.#unkept = lines;
      this.#deliver(text);
    } else if (this.#options.takesWhileBusy?.(text) !== true) this.#ahead.push({ text, lines });
  }

  #keep(): void {
    for (const line of this.#unkept) this.#options.history.add(line);
    this.#unkept = [];
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
    this.#begunLines = [];
    this.#editor.setPrompt(PROMPT);
    clearEditedLine(this.#editor);
  }
}
