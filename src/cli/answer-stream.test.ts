import { Chalk } from "chalk";
import fc from "fast-check";
import stringWidth from "string-width";
import { describe, expect, it } from "vitest";
import { noActivity } from "./activity.ts";
import { AnswerStream } from "./answer-stream.ts";
import { renderAnswer } from "./render/answer.ts";
import type { Screen } from "./screen.ts";

const screenOf = (columns: number, rows = 40): Screen => ({
  columns,
  rows,
  isPlain: false,
  isTerminal: true,
  paint: new Chalk({ level: 0 }),
});

/** A terminal that knows what the program writes: text, line breaks, and the ways back to an earlier line. */
function terminal(columns: number) {
  const rows: string[] = [""];
  let row = 0;
  const put = (character: string): void => {
    if (stringWidth((rows[row] ?? "") + character) > columns) rows[(row += 1)] = "";
    rows[row] = (rows[row] ?? "") + character;
  };
  return {
    write(text: string): void {
      // oxlint-disable-next-line no-control-regex -- what the program writes
      for (const part of text.match(/\u001B\[\d*[AJ]|[\s\S]/gu) ?? []) {
        if (part === "\n") rows[(row += 1)] ??= "";
        else if (part.endsWith("A") && part.startsWith("\u001B")) row -= Number(part.slice(2, -1));
        // Each way back is followed by clearing what stood there.
        else if (part.startsWith("\u001B")) rows.splice(row, rows.length, "");
        else if (part !== "\r") put(part);
      }
    },
    text: () => rows.join("\n"),
  };
}

/** What stands on the screen after the pieces. */
function streamed(pieces: readonly string[], screen: Screen): string {
  const { write, text } = terminal(screen.columns);
  const answer = new AnswerStream({ write, screen, activity: noActivity });
  for (const piece of pieces) answer.push(piece);
  answer.endLine();
  return text().trimEnd();
}

const ANSWER = `# Plan

Some **bold** and *soft* words with \`code\` &amp; a [link](https://example.org/a) that go on behind the border of a line.

1. first
   - nested **one**
2. second

| name | what it does |
| --- | --- |
| 東京 | a **city** |
| x | 1 \\| 2 |

\`\`\`sh
npm install   --save some-package-with-a-long-name another-package
\`\`\`

> said by somebody
- [x] done
- [ ] open

日本語の長い文章は空白がなくても行の終わりで折り返されます。`;

describe("an answer on a terminal", () => {
  it("is rendered: headings, lists, tables, code that can be copied, addresses", () => {
    expect(renderAnswer(ANSWER, screenOf(60))).toBe(
      [
        "Plan",
        "",
        "Some bold and soft words with `code` & a link",
        "(https://example.org/a) that go on behind the border of a",
        "line.",
        "",
        "1. first",
        "   • nested one",
        "2. second",
        "",
        "name  what it does",
        "東京  a city",
        "x     1 | 2",
        "",
        `── sh ──${"─".repeat(32)}`,
        "npm install   --save some-package-with-a-long-name another-package",
        "─".repeat(40),
        "",
        "│ said by somebody",
        "",
        "[x] done",
        "[ ] open",
        "",
        "日本語の長い文章は空白がなくても行の終わりで折り返されます。",
      ].join("\n"),
    );
  });

  it("ends as the whole answer is rendered, however it was cut into pieces", () => {
    const whole = Array.from(ANSWER);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 40 }), (sizes) => {
        const pieces: string[] = [];
        for (let at = 0, index = 0; at < whole.length; index += 1) {
          const size = sizes[index % sizes.length] ?? 1;
          pieces.push(whole.slice(at, at + size).join(""));
          at += size;
        }
        const screen = screenOf(50);
        const { write, text } = terminal(50);
        write(renderAnswer(ANSWER, screen));
        expect(streamed(pieces, screen)).toBe(text());
      }),
      { numRuns: 10 },
    );
  });

  it("keeps every line of what is longer than the screen, once", () => {
    const lines = Array.from({ length: 30 }, (_, index) => `- item ${index} of a list`);
    const pieces = lines.flatMap((line) => [line.slice(0, 6), `${line.slice(6)}\n`]);
    expect(streamed(pieces, screenOf(60, 10)).split("\n")).toEqual(
      lines.map((line) => line.replace("-", "•")),
    );
  });

  it("writes only what is new of text that goes on", () => {
    const written: string[] = [];
    const answer = new AnswerStream({
      write: (text) => void written.push(text),
      screen: screenOf(60),
      activity: noActivity,
    });
    for (const piece of ["Hello", " there,", " how", " are you?"]) answer.push(piece);
    answer.endLine();
    expect(written).toEqual(["Hello", " there,", " how", " are you?", "\n"]);
  });

  it("cannot control the terminal by what Markdown hides (D-11)", () => {
    const hostile =
      "[a\u001B[2J](http://x/\u001B]0;t\u0007y) `\u001B[31mred`\n\n| \u202Eb |\n| --- |\n| \u009B1A |";
    expect(streamed(Array.from(hostile), screenOf(60))).toBe("a (http://x/y) `red`\n\nb");
  });

  it.each([
    ["in a pipe", { ...screenOf(60), isTerminal: false, isPlain: true }],
    ["with --plain", { ...screenOf(60), isPlain: true }],
  ])("is shown as the model writes it %s", (_where, screen) => {
    expect(streamed(["# Plan\n\n**bo", "ld** [x](y)"], screen)).toBe("# Plan\n\n**bold** [x](y)");
  });
});
