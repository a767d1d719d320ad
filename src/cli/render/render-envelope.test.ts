import { Chalk } from "chalk";
import stringWidth from "string-width";
import { describe, expect, it } from "vitest";
import { done, refused, type Envelope } from "#src/kernel/envelope.ts";
import { markdownFacts, markdownSaid, markdownTable } from "#src/kernel/markdown.ts";
import { plainScreen, type Screen } from "../screen.ts";
import { renderEnvelope } from "./render-envelope.ts";

const terminal = (columns: number): Screen => ({
  columns,
  rows: 24,
  isPlain: false,
  isTerminal: true,
  paint: new Chalk({ level: 0 }),
});

const sessions = done("sessions", "2 sessions of cli:main.", {
  next: "/resume <number> goes on with one of them.",
  body: markdownTable(
    ["#", "began", "turns", "about"],
    [
      ["1", "2026-05-01 21:40", "3", "Which seat is the quietest on the night train?"],
      ["2 ●", "2026-05-01 21:40", "0", "(nothing said)"],
    ],
  ),
});

const status = done("status", "Session 2 of cli:main, 3 turns.", {
  body: markdownFacts([
    ["title", "Trip"],
    ["task", null],
    ["answers", "openai:gpt-4o-mini (you chose it)"],
  ]),
});

const history = done("history", "The latest turn.", {
  body: [
    "**2026-05-01 21:40 (stopped)**",
    markdownSaid("user", "one\n  two"),
    markdownSaid(
      "assistant",
      "A rather long answer that does not fit on one narrow line. \u001B[31m漢字\u001B[0m",
    ),
  ].join("\n\n"),
});

const help = done("help", "2 commands.", {
  body: markdownTable(
    ["command", "what it does"],
    [
      ["`/model [name|reset]`", "Show or choose the model that answers"],
      ["`/new [text]`", "End this conversation \\ begin a new one"],
    ],
  ),
});

describe("an envelope on a screen", () => {
  it("shows the tables of its text, which fit the screen, and the next step below", () => {
    expect(`\n${renderEnvelope(sessions, terminal(80))}\n`).toMatchInlineSnapshot(`
      "
      2 sessions of cli:main.

      #    began             turns  about
      1    2026-05-01 21:40  3      Which seat is the quietest on the night train?
      2 ●  2026-05-01 21:40  0      (nothing said)

      /resume <number> goes on with one of them.
      "
    `);
    expect(`\n${renderEnvelope(sessions, terminal(40))}\n`).toMatchInlineSnapshot(`
      "
      2 sessions of cli:main.

      1    2026-05-01 21:40
           3
           Which seat is the quietest on the
           night train?
      2 ●  2026-05-01 21:40
           0
           (nothing said)

      /resume <number> goes on with one of
      them.
      "
    `);
  });

  it("shows facts by their names, without those that there are not", () => {
    expect(`\n${renderEnvelope(status, terminal(80))}\n`).toMatchInlineSnapshot(`
      "
      Session 2 of cli:main, 3 turns.

      title    Trip
      answers  openai:gpt-4o-mini (you chose it)
      "
    `);
  });

  it("shows who said what", () => {
    expect(`\n${renderEnvelope(history, terminal(40))}\n`).toMatchInlineSnapshot(`
      "
      The latest turn.

      2026-05-01 21:40 (stopped)

      You: one
        two

      Lily: A rather long answer that does
      not fit on one narrow line. 漢字
      "
    `);
  });

  it("gives back what a table's cell may not hold", () => {
    expect(renderEnvelope(help, terminal(80))).toContain("/model [name|reset]  Show");
    expect(renderEnvelope(help, terminal(80))).toContain("conversation \\ begin");
  });

  it("shows what there is to choose from below the question", () => {
    const body = markdownTable(
      ["id", "fact"],
      [
        ["1a2b3c4d", "one"],
        ["5e6f7a8b", "two"],
      ],
    );
    const ambiguous = refused("memory_ambiguous", "2 facts fit", { next: "Say which.", body });
    expect(renderEnvelope(ambiguous, terminal(80))).toMatch(/Say which[\s\S]*1a2b3c4d[\s\S]*5e6f7a8b/u);
  });

  it("shows a failure in a box with what to do next", () => {
    const failure = refused("command_unknown", "there is no command /nwe", {
      next: "/help lists the commands.",
    });
    expect(`\n${renderEnvelope(failure, terminal(40))}\n`).toMatchInlineSnapshot(`
      "
      ╭ command_unknown ──────────╮
      │ There is no command /nwe. │
      │ /help lists the commands. │
      ╰───────────────────────────╯
      "
    `);
    expect(renderEnvelope(failure, plainScreen())).toBe(
      "there is no command /nwe\n/help lists the commands.",
    );
  });

  it.each([
    ["there is no command /nope", "There is no command /nope."],
    ["e.bin is no text", "e.bin is no text."],
    ["session:3 has not ended", "session:3 has not ended."],
    ["/a/b cannot be read", "/a/b cannot be read."],
    ["été is no key", "Été is no key."],
  ])("begins a failure with a capital, unless with a name: %s", (message, sentence) => {
    expect(renderEnvelope(refused("command_usage", message), terminal(80))).toContain(` ${sentence} `);
  });

  it("without a text shows its message and next step", () => {
    const unknown = done("brand_new", "Something happened.", { next: "Go on.", data: { a: 1 } });
    expect(renderEnvelope(unknown, plainScreen())).toBe("Something happened.\nGo on.");
  });

  it.each<[string, Envelope]>(Object.entries({ sessions, status, history, help }))(
    "keeps %s within the screen at every width",
    (_name, envelope) => {
      for (let columns = 40; columns <= 130; columns += 5) {
        const widest = Math.max(
          ...renderEnvelope(envelope, terminal(columns))
            .split("\n")
            .map((line) => stringWidth(line)),
        );
        expect(widest).toBeLessThanOrEqual(columns);
      }
    },
  );

  it.each<[string, Envelope]>(Object.entries({ sessions, status, history, help }))(
    "shows %s without a control character",
    (_name, envelope) => {
      const hostile: unknown = JSON.parse(
        JSON.stringify(envelope, (_key, value: unknown) =>
          typeof value === "string" && value !== envelope.code ? `${value}\u001B[2J\u009B1m\u0007` : value,
        ),
      );
      expect(renderEnvelope(hostile as Envelope, plainScreen())).not.toMatch(/[^\P{Cc}\n]/u);
    },
  );
});
