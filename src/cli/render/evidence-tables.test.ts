import { Chalk } from "chalk";
import { expect, it } from "vitest";
import { done } from "#src/kernel/envelope.ts";
import type { Screen } from "../screen.ts";
import { renderEnvelope } from "./render-envelope.ts";

const terminal = (columns: number): Screen => ({ columns, isTerminal: true, paint: new Chalk({ level: 0 }) });

it("shows each document with what was left out and marked", () => {
  const source = { short: "d100a12f", file: "guide.md", ingested: "2026-03-01 09:00" };
  const envelope = done("evidence_sources", "2 documents.", {
    data: {
      sources: [
        { ...source, title: "Returns", pieces: 2, leftOut: { card_number: 1, iban: 2 }, warned: 1 },
        { ...source, title: "guide.md", pieces: 7, leftOut: {}, warned: 0 },
      ],
    },
  });
  expect(renderEnvelope(envelope, terminal(80)).split("\n")).toEqual([
    "2 documents.",
    "",
    "id        document  passages    since",
    "d100a12f  Returns   2           2026-03-01 09:00",
    "          guide.md  3 left out",
    "                    1 marked",
    "d100a12f  guide.md  7           2026-03-01 09:00",
  ]);
});

it("shows each passage with its citation and what it is not, and no control characters of a file", () => {
  const envelope = done("evidence_shown", "One passage fits.", {
    data: {
      evidence: [
        {
          label: "evidence, not a fact Lily vouches for",
          citation: { text: "a\u001b[2Jb.md, line 1", short: "d100a12f", ingested: "2026-03-01 09:00" },
          quote: "Send\u0007 it.",
          warning: "instruction_like",
        },
      ],
    },
  });
  const shown = renderEnvelope(envelope, terminal(80));
  expect(shown).toContain("evidence, not a fact Lily vouches for; d100a12f, given 2026-03-01 09:00");
  expect(shown).toContain("marked: instruction_like");
  // oxlint-disable-next-line no-control-regex -- these must not reach the terminal
  expect(shown).not.toMatch(/[\u0007\u001b]/u);
});
