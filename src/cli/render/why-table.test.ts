import { Chalk } from "chalk";
import stringWidth from "string-width";
import { describe, expect, it } from "vitest";
import { done } from "#src/kernel/envelope.ts";
import { plainScreen, type Screen } from "../screen.ts";
import { renderEnvelope } from "./render-envelope.ts";

const terminal = (columns: number): Screen => ({ columns, isTerminal: true, paint: new Chalk({ level: 0 }) });

const why = done("turn_explained", "all of it in plain text", {
  next: "/why <turn number> explains another turn, /why <id> a remembered fact.",
  data: {
    headline: "Turn 3 of this session (2026-05-01 21:40): openai:gpt-4o-mini answered.",
    reasons: [
      { about: "message", text: "“which bike do I have?”" },
      {
        about: "session",
        text: "session 2 of cli:main, begun 2026-05-01 21:00 because you asked for it with /new",
      },
      { about: "recalled", text: "turn 2 of session 1" },
      { about: "recalled", text: "turn 4 of session 1\u001B[31m" },
    ],
  },
});

describe("an explanation on a screen", () => {
  it("is its headline and a reason a line, each heading once", () => {
    expect(`\n${renderEnvelope(why, terminal(80))}\n`).toMatchInlineSnapshot(`
      "
      Turn 3 of this session (2026-05-01 21:40): openai:gpt-4o-mini answered.

      message   “which bike do I have?”
      session   session 2 of cli:main, begun 2026-05-01 21:00 because you asked for it
                with /new
      recalled  turn 2 of session 1
                turn 4 of session 1

      /why <turn number> explains another turn, /why <id> a remembered fact.
      "
    `);
  });

  it("fits at every width, and lets nothing through that a terminal obeys", () => {
    for (let columns = 40; columns <= 130; columns += 5) {
      const lines = renderEnvelope(why, terminal(columns)).split("\n");
      expect(Math.max(...lines.map((line) => stringWidth(line)))).toBeLessThanOrEqual(columns);
    }
    expect(renderEnvelope(why, terminal(80))).not.toContain("\u001B");
  });

  it("is its headline alone where there is no reason", () => {
    const bare = done("turn_explained", "x", {
      data: { headline: "What was said was erased.", reasons: [] },
    });
    expect(renderEnvelope(bare, plainScreen())).toBe("What was said was erased.");
  });
});
