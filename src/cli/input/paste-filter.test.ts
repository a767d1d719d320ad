import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PasteScanner } from "./paste-filter.ts";
import { lineToText, pastedToLine } from "./paste-text.ts";

const BEGIN = "\u001B[200~";
const END = "\u001B[201~";

describe("a pasted block", () => {
  it("becomes one line that stands for the same text", () => {
    expect(pastedToLine("if x:\r\n\ty\rz\n")).toBe("if x:⏎⇥y⏎z⏎");
    expect(lineToText("if x:⏎⇥y⏎z⏎")).toBe("if x:\n\ty\nz\n");
  });

  it("loses control characters, which the line editor would obey", () => {
    expect(pastedToLine("a\u0003b\u001B[Ac\u007F")).toBe("ab[Ac");
  });
});

describe("the paste scanner", () => {
  it("lets typed keys through as they are", () => {
    const scanner = new PasteScanner();
    expect(scanner.push("abc\r\u001B[A\u0003")).toBe("abc\r\u001B[A\u0003");
    expect(scanner.push("\u001B")).toBe("\u001B");
  });

  it("makes a paste one line and a typed return after it the end of it", () => {
    expect(new PasteScanner().push(`see: ${BEGIN}a\rb${END}\r`)).toBe("see: a⏎b\r");
  });

  it("does not care in which pieces the input comes", () => {
    const input = `x${BEGIN}one\r\ntwo\u001B[3~\n${END}y\r${BEGIN}z${END}`;
    const whole = new PasteScanner().push(input);
    expect(whole).toBe("xone⏎two[3~⏎y\rz");
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: input.length - 1 }), { maxLength: 8 }), (cuts) => {
        const scanner = new PasteScanner();
        // A terminal writes the mark that begins a paste at once, so it is not cut after its Escape.
        const ends = [...new Set(cuts)].filter((cut) => !input.slice(cut - 1).startsWith(BEGIN)).toSorted((a, b) => a - b);
        const pieces = [0, ...ends].map((from, index) => input.slice(from, ends[index]));
        expect(pieces.map((piece) => scanner.push(piece)).join("")).toBe(whole);
      }),
    );
  });
});
