import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PasteScanner, type InputPiece } from "./paste-scanner.ts";
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
    expect(scanner.push("abc\r\u001B[A\u0003")).toEqual([{ kind: "keys", text: "abc\r\u001B[A\u0003" }]);
    expect(scanner.push("\u001B")).toEqual([{ kind: "keys", text: "\u001B" }]);
  });

  it("makes a paste one line and a typed return after it the end of it", () => {
    expect(new PasteScanner().push(`see: ${BEGIN}a\rb${END}\r`)).toEqual([
      { kind: "keys", text: "see: " },
      { kind: "paste", text: "a⏎b" },
      { kind: "keys", text: "\r" },
    ]);
  });

  it("does not care in which pieces the input comes", () => {
    const input = `x${BEGIN}one\r\ntwo\u001B[3~\n${END}y\r${BEGIN}z${END}`;
    const whole = new PasteScanner().push(input);
    expect(whole.map(({ text }) => text)).toEqual(["x", "one⏎two[3~⏎", "y\r", "z"]);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: input.length - 1 }), { maxLength: 8 }), (cuts) => {
        const scanner = new PasteScanner();
        // A terminal writes the mark that begins a paste at once, so it is not cut after its Escape.
        const ends = [...new Set(cuts)]
          .filter((cut) => !input.slice(cut - 1).startsWith(BEGIN))
          .toSorted((a, b) => a - b);
        const inputs = [0, ...ends].map((from, index) => input.slice(from, ends[index]));
        expect(joined(inputs.flatMap((piece) => scanner.push(piece)))).toEqual(whole);
      }),
    );
  });
});

/** Neighbours of one kind made one. */
function joined(pieces: readonly InputPiece[]): InputPiece[] {
  return pieces.reduce<InputPiece[]>((done, { kind, text }) => {
    const last = done.at(-1);
    return last?.kind === kind
      ? [...done.slice(0, -1), { kind, text: last.text + text }]
      : [...done, { kind, text }];
  }, []);
}
