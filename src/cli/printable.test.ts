import { describe, expect, it } from "vitest";
import { createPrintableStream, printable, printableLine } from "./printable.ts";

describe("printable", () => {
  it("keeps text, tabs and line breaks", () => {
    expect(printable("a\tb\nc\r\nd – é 漢 🙂")).toBe("a\tb\nc\nd – é 漢 🙂");
  });

  it("removes colours, cursor movement and titles", () => {
    expect(printable("\u001B[31mred\u001B[0m\u001B[2J\u001B]0;title\u0007.")).toBe("red.");
    expect(printable("\u001B[1mbold\u0007 \u001B]8;;https://a.b\u001B\\link\u001B]8;;\u001B\\\u009B2J")).toBe(
      "bold link",
    );
  });

  it("removes control characters of every kind", () => {
    const controls = Array.from({ length: 0xa0 }, (_, code) => String.fromCharCode(code)).filter(
      (character) => /\p{Cc}/u.test(character) && character !== "\n" && character !== "\t",
    );
    expect(controls).toHaveLength(63);
    for (const control of controls) expect(printable(`a${control}b`)).not.toContain(control);
  });

  it("leaves nothing of a sequence that is cut off", () => {
    expect(printable("a\u001B[3")).toBe("a");
    expect(printable("1m")).toBe("1m");
  });

  it("D-11 removes what turns the direction of text", () => {
    expect(printable("user\u202Etxt.exe\u202C and \u2067x\u2069 שלום")).toBe("usertxt.exe and x שלום");
  });
});

describe("printableLine", () => {
  it("makes one line of several", () => {
    expect(printableLine(" a\n\n b\tc ")).toBe("a b c");
  });
});

describe("a printable stream", () => {
  it("waits for the second half of a character", () => {
    const stream = createPrintableStream();
    const [high = "", low = ""] = "🙂".split("");
    expect(stream(`a${high}`)).toBe("a");
    expect(stream(low)).toBe("🙂");
  });

  it.each([
    "a \u001B[31mred\u001B[0m b",
    "\u001B]8;;https://a.b\u001B\\link\u001B]8;;\u0007.",
    "\u009B2Jx\u001B",
    "\u001B(0 a \u001B[3",
    `\u001B]0;${"long ".repeat(600)}\u0007 end`,
  ])("D-11 says of %j in pieces what it says of the whole", (text) => {
    for (const size of [1, 2, 3, 5]) {
      const stream = createPrintableStream();
      const pieces = text.match(new RegExp(`[\\s\\S]{1,${size}}`, "gu")) ?? [];
      expect(pieces.map((piece) => stream(piece)).join("")).toBe(printable(text));
    }
  });
});
