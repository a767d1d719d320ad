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

const paste = (text: string): string => `\u001B[200~${text}\u001B[201~`;

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
    await new Promise(setImmediate);
    expect(await lines.next()).toBe("secret");
    lines.forgetLast();
    lines.close();
    expect(remembered).toEqual(["first"]);
  });

  it("makes a paste of several lines one message, where the cursor is", async () => {
    expect(await read(`ab\u001B[D${paste("one\r\ttwo")}!\r`)).toBe("aone\n\ttwo!b");
  });

  it("goes on with the next line after a backslash", async () => {
    expect(await read("one\\\rtwo\r")).toBe("one\ntwo");
  });

  it("completes a command and brings an older line back", async () => {
    expect(await read("/st\t\r")).toBe("/status ");
    expect(await read("\u001B[A\u001B[A\r")).toBe("older");
  });

  it("skips blank lines", async () => {
    expect(await read("\r  \rx\r")).toBe("x");
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
    terminal.type("next\rhalf");
    await new Promise(setImmediate);
    expect(terminal.written()).toBe(before);
    expect(await lines.next()).toBe("next");
    expect(await read("-done\r")).toBe("half-done");
  });

  it("prints above what is being typed", async () => {
    const next = lines.next();
    terminal.type("a line that is longer than the forty columns there are");
    await new Promise(setImmediate);
    lines.printAbove("news");
    expect(terminal.shown()).toMatch(/news\n› a line that is longer than the forty columns there are$/u);
    terminal.type("\r");
    expect(await next).toBe("a line that is longer than the forty columns there are");
  });

  it("ends at Ctrl-D and gives the terminal back", async () => {
    expect(await read("\u0004")).toBeUndefined();
    expect(lines.isClosed).toBe(true);
    expect(terminal.modes).toEqual([true, false]);
    expect(terminal.written()).toContain("\u001B[?2004l");
    expect(await lines.next()).toBeUndefined();
  });
});
