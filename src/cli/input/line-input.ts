/** Reads messages from a person at a terminal: edited lines, lines that arrive together, and lines typed ahead. */
import { clearScreenDown, createInterface, cursorTo, type Interface } from "node:readline";
import { Writable } from "node:stream";
import type { ReadStream, WriteStream } from "node:tty";
import { linesWithout, type InputHistory } from "./history-file.ts";

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

/** Lines that come within this are a paste: nobody types them. */
const TOGETHER_MS = 20;

/** The input side of an interactive conversation. Takes over the terminal until `close`. */
export class LineInput {
  readonly #options: LineInputOptions;
  readonly #editor: Interface;
  /** While an answer is written, what is typed is not echoed into it. */
  #isMuted = false;
  /** Messages that were typed ahead, as the lines of which they were made. */
  readonly #ahead: (readonly string[])[] = [];
  /** Lines of the message that is not complete yet. */
  #begun: readonly string[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** Lines of the message in hand. They are kept once it is over: until then nobody knows whether it holds a secret. */
  #unkept: readonly string[] = [];
  /** What the arrow keys bring back, newest first: the array that the editor works on. */
  #recalled: string[] = [];
  /** What waits to be printed until the line that is being typed is done. */
  readonly #held: string[] = [];
  #waiting: ((text: string | undefined) => void) | undefined;
  #isClosed = false;
  /** What Ctrl-C says to the question that is asked. */
  #interruptSays: string | undefined;

  constructor(options: LineInputOptions) {
    this.#options = options;
    this.#editor = createInterface({
      input: options.input,
      output: this.#mutable(options.output),
      terminal: true,
      prompt: PROMPT,
      history: options.history.load(),
      historySize: 500,
      removeHistoryDuplicates: true,
      completer: (line: string) => completeCommand(line, options.commandNames()),
    });
    this.#editor.on("line", (line) => this.#take(line));
    this.#editor.on("history", (lines) => (this.#recalled = lines));
    this.#editor.on("SIGINT", () => this.#interrupt());
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

  /** What is read next answers a question: nothing typed ahead does, and Ctrl-C gives `interruptSays`. */
  asks(interruptSays: string): void {
    this.#interruptSays = interruptSays;
  }

  /** Shows the prompt, if nothing was typed ahead, and waits; `undefined` when the person leaves. */
  async next(): Promise<string | undefined> {
    this.#keep();
    const lines = this.#interruptSays === undefined ? this.#ahead.shift() : undefined;
    if (lines !== undefined) {
      this.#unkept = lines;
      this.#options.output.write(`${PROMPT}${textOf(lines).replaceAll("\n", `\n${MORE_PROMPT}`)}\n`);
      return textOf(lines);
    }
    if (this.#isClosed) return undefined;
    return new Promise((resolve) => {
      this.#waiting = resolve;
      this.#showPrompt();
    });
  }

  /** Keeps no line of the message that `next` gave last, neither in the file nor for the arrow keys. */
  forgetLast(): void {
    const lines = new Set(this.#unkept);
    this.#unkept = [];
    this.#leaveRecalled(this.#recalled.filter((line) => !lines.has(line)));
  }

  /** Forgets the lines that `says` holds of: those that the arrow keys bring back, and those of the message in hand. */
  forgetSaying(says: (line: string) => boolean): void {
    this.#unkept = linesWithout(this.#unkept, says);
    this.#leaveRecalled(linesWithout(this.#recalled.toReversed(), says).toReversed());
  }

  /** Prints text above the prompt; while something is being typed, once that is done: `false`. */
  printAbove(text: string): boolean {
    const { output } = this.#options;
    if (!this.isPrompting) return output.write(`${text}\n`) || true;
    if (this.#editor.line !== "" || this.#begun.length > 0) return this.#held.push(text) < 0;
    cursorTo(output, 0);
    clearScreenDown(output);
    output.write(`${text}\n`);
    this.#editor.prompt();
    return true;
  }

  /** Gives the terminal back as it was. Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#keep();
    this.#editor.close();
    if (this.isPrompting) this.#options.output.write("\n");
    this.#deliver(undefined);
  }

  #mutable(terminal: WriteStream): Writable {
    const screen = new Writable({
      decodeStrings: false,
      write: (chunk: Buffer | string, _encoding, done) => {
        if (!this.#isMuted) terminal.write(chunk);
        done();
      },
    });
    terminal.on("resize", () => screen.emit("resize"));
    return Object.defineProperty(screen, "columns", { get: () => terminal.columns });
  }

  #showPrompt(): void {
    this.#isMuted = false;
    this.#editor.setPrompt(this.#begun.length === 0 ? PROMPT : MORE_PROMPT);
    this.#editor.prompt(true);
  }

  /** A backslash at its end continues a line. Lines that came together are one message, with what is left in the editor. */
  #take(line: string): void {
    this.#begun = [...this.#begun, line];
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#end(), TOGETHER_MS);
  }

  #end(): void {
    const lines = this.#begun;
    if (lines.at(-1)?.endsWith("\\") === true || this.#editor.line !== "") {
      if (this.isPrompting) this.#showPrompt();
      return;
    }
    this.#begun = [];
    const text = textOf(lines);
    if (text.trim() === "") {
      if (this.isPrompting) this.#showPrompt();
    } else if (this.isPrompting) {
      this.#unkept = lines;
      this.#deliver(text);
    } else if (this.#options.takesWhileBusy?.(text) !== true) this.#ahead.push(lines);
  }

  #keep(): void {
    const last = this.#unkept.length - 1;
    // The file knows by the backslash which lines are one message.
    for (const [index, line] of this.#unkept.entries())
      this.#options.history.add(index < last && !line.endsWith("\\") ? `${line}\\` : line);
    this.#unkept = [];
  }

  #deliver(text: string | undefined): void {
    const resolve = this.#waiting;
    this.#waiting = undefined;
    this.#interruptSays = undefined;
    this.#isMuted = true;
    for (const held of this.#held.splice(0)) this.#options.output.write(`${held}\n`);
    resolve?.(text);
  }

  #interrupt(): void {
    if (!this.isPrompting) return this.#options.onBusyInterrupt();
    const says = this.#interruptSays;
    if (says === undefined && this.#editor.line === "" && this.#begun.length === 0)
      return this.#options.onIdleInterrupt();
    this.#begun = [];
    clearTimeout(this.#timer);
    this.#editor.write(null, { ctrl: true, name: "e" });
    this.#editor.write(null, { ctrl: true, name: "u" });
    if (says === undefined) return this.#showPrompt();
    this.#options.output.write(`${says}\n`);
    this.#deliver(says);
  }

  #leaveRecalled(lines: readonly string[]): void {
    this.#recalled.splice(0, this.#recalled.length, ...lines);
  }
}

function textOf(lines: readonly string[]): string {
  const last = lines.length - 1;
  return lines.map((line, index) => (index < last ? line.replace(/\\$/u, "") : line)).join("\n");
}

/** Hits for `line`, the beginning of a command, and the part of it that they replace, as `node:readline` wants them. */
function completeCommand(line: string, names: readonly string[]): [string[], string] {
  if (!/^\/[\w-]*$/u.test(line)) return [[], line];
  const typed = line.slice(1).toLowerCase();
  return [names.filter((name) => name.startsWith(typed)).map((name) => `/${name} `), line];
}
