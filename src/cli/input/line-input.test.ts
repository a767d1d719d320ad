import { PassThrough } from "node:stream";
import type { ReadStream, WriteStream } from "node:tty";
import { stripVTControlCharacters } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LineInput } from "./line-input.ts";

/** A terminal without a machine behind it. */
function fakeTerminal() {
  const modes: boolean[] = [];
  const input = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (isRaw: boolean) => void modes.push(isRaw),
  });
  const written: string[] = [];
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 40 });
  output.on("data", (chunk: Buffer) => written.push(chunk.toString()));
  // Only what the line input uses is there.
  return {
    input: input as unknown as ReadStream,
    output: output as unknown as WriteStream,
    modes,
    type: (text: string) => void input.write(text),
    written: () => written.join(""),
    shown: () => stripVTControlCharacters(written.join("")),
  };
}

let terminal: ReturnType<typeof fakeTerminal>;
let lines: LineInput;
let remembered: string[];
let interrupts: string[];

beforeEach(() => {
  terminal = fakeTerminal();
  remembered = [];
  interrupts = [];
  lines = new LineInput({
    ...terminal,
    history: { load: () => ["older"], add: (line) => void remembered.push(line) },
    commandNames: () => ["status", "help"],
    onIdleInterrupt: () => void interrupts.push("idle"),
    onBusyInterrupt: () => void interrupts.push("busy"),
  });
});

afterEach(() => lines.close());

/** What `next` gives for keys. */
async function read(keys: string): Promise<string | undefined> {
  const next = lines.next();
  terminal.type(keys);
  return next;
}

/** Longer than lines that arrive together are apart. */
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 40));

describe("input at a terminal", () => {
  it("reads a line and remembers it", async () => {
    expect(await read("hello\r")).toBe("hello");
    expect(await read("\u001B[A\r")).toBe("hello");
    expect(remembered).toEqual(["hello"]);
    lines.close();
    expect(remembered).toEqual(["hello", "hello"]);
  });

  it("writes down no line of a message that is to be forgotten, and brings none back", async () => {
    await read("/remember my password\\\ris Plum-Kettle-9\r");
    lines.forgetLast();
    expect(await read("\u001B[A\r")).toBe("older");
    lines.close();
    expect(remembered).toEqual(["older"]);
  });

  it("forgets a message that was typed ahead, and not the one before it", async () => {
    await read("first\r");
    terminal.type("secret\r");
    await pause();
    expect(await lines.next()).toBe("secret");
    lines.forgetLast();
    lines.close();
    expect(remembered).toEqual(["first"]);
  });

  it("makes lines that arrive together one message, with what is behind them in the editor", async () => {
    expect(await read("one\r\ttwo\rthree\r")).toBe("one\n\ttwo\nthree");
    const next = lines.next();
    terminal.type("four\rfive");
    await pause();
    terminal.type("!\r");
    expect(await next).toBe("four\nfive!");
    lines.close();
    expect(remembered).toEqual(["one\\", "\ttwo\\", "three", "four\\", "five!"]);
  });

  it("goes on with the next line after a backslash", async () => {
    const next = lines.next();
    terminal.type("one\\\r");
    await pause();
    terminal.type("two\r");
    expect(await next).toBe("one\ntwo");
  });

  it("completes a command and brings an older line back", async () => {
    const next = lines.next();
    terminal.type("/st");
    terminal.type("\t");
    await pause();
    terminal.type("\r");
    expect(await next).toBe("/status ");
    expect(await read("\u001B[A\u001B[A\r")).toBe("older");
  });

  it("skips blank lines", async () => {
    const next = lines.next();
    for (const keys of ["\r", "  \r", "x\r"]) {
      terminal.type(keys);
      await pause();
    }
    expect(await next).toBe("x");
  });

  it("clears the line at Ctrl-C, and says how to leave when there is none", async () => {
    expect(await read("nonsense\u0003\u0003fine\r")).toBe("fine");
    expect(interrupts).toEqual(["idle"]);
  });

  it("gives Ctrl-C to the answer that is being written", async () => {
    await read("hello\r");
    terminal.type("\u0003");
    await new Promise(setImmediate);
    expect(interrupts).toEqual(["busy"]);
  });

  it("keeps what is typed ahead and does not echo it into the answer", async () => {
    await read("hello\r");
    const before = terminal.written();
    terminal.type("next\r");
    await pause();
    terminal.type("half");
    await pause();
    expect(terminal.written()).toBe(before);
    expect(await lines.next()).toBe("next");
    expect(await read("-done\r")).toBe("half-done");
  });

  it("prints above the prompt, and what is being typed first once it is done", async () => {
    const next = lines.next();
    lines.printAbove("news");
    expect(terminal.shown()).toMatch(/news\n› $/u);
    terminal.type("a line");
    await pause();
    lines.printAbove("late news");
    expect(terminal.shown()).not.toContain("late news");
    terminal.type("\r");
    expect(await next).toBe("a line");
    expect(terminal.shown()).toContain("late news\n");
  });

  it("ends at Ctrl-D and gives the terminal back", async () => {
    expect(await read("\u0004")).toBeUndefined();
    expect(lines.isClosed).toBe(true);
    expect(terminal.modes).toEqual([true, false]);
    expect(await lines.next()).toBeUndefined();
  });

  it("offers the commands that begin so, and nothing inside arguments and text", async () => {
    const next = lines.next();
    for (const keys of ["/H", "\t", "\u0015/new s", "\t", "\u0015h", "\t", "\r"]) {
      terminal.type(keys);
      await pause();
    }
    expect(await next).toBe("h");
    expect(terminal.shown()).toContain("/help ");
  });
});
