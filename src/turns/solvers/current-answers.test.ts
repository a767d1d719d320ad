import { describe, expect, it } from "vitest";
import { turnRecord } from "#src/sessions/testing/turn-body.ts";
import type { TurnBody, TurnRecord } from "#src/sessions/turn-record.ts";
import type { MemoryRecord } from "#memory/record.ts";
import { memoryRecord } from "#memory/testing/memory-record.ts";
import { solveSymbolically } from "./symbolic.ts";

const at = (turn: number): string => new Date(Date.UTC(2026, 2, 1, 9, turn)).toISOString();

function turnOf(turn: number, user: string, reply = "Noted.", changes: Partial<TurnBody> = {}): TurnRecord {
  return turnRecord({
    turn,
    at: at(turn),
    messages: [
      { role: "user", content: user, timestamp: at(turn) },
      { role: "assistant", content: reply, timestamp: at(turn) },
    ],
    ...changes,
  });
}

const said = (...texts: string[]): TurnRecord[] => texts.map((text, index) => turnOf(index + 1, text));

/** Kept behind turn `turn`. */
const kept = (text: string, turn: number, changes: Partial<MemoryRecord> = {}): MemoryRecord =>
  memoryRecord({
    id: "1a2b3c4d-0000-4000-8000-000000000000",
    text,
    created_at: at(turn),
    updated_at: at(turn),
    ...changes,
  });

const answer = (text: string, turns: readonly TurnRecord[], memories: readonly MemoryRecord[] = []): string =>
  solveSymbolically({ text, turns, sessionId: "s1", timeZone: "UTC", memories }).text;

describe("what was restated is not quoted any more", () => {
  it.each([
    ["where do I live?", ["I live in Paris", "I moved to Madrid"], "I moved to Madrid"],
    [
      "what is my flight?",
      ["my flight is BA117", "actually my flight is now LH200 via Munich"],
      "actually my flight is now LH200 via Munich",
    ],
    ["do I like fish?", ["I like fish", "I don't like fish any more"], "I don't like fish any more"],
    [
      "where do I live?",
      ["I live in Paris. My dog is called Rex.", "I moved to Madrid"],
      "I moved to Madrid",
    ],
    ["where do I live?", ["I live in Paris. No, I live in Rome."], "No, I live in Rome."],
  ])("by what is said later: %s", (question, statements, expected) => {
    expect(answer(question, said(...statements))).toContain(`“${expected}”`);
  });

  it("leaves what else was said beside it", () => {
    const turns = said("I live in Paris. My dog is called Rex.", "I live in Rome");
    expect(answer("what is my dog called?", turns)).toContain("“My dog is called Rex.”");
  });

  it("by a fact that was kept later", () => {
    const text = answer("where do I live?", said("I live in Paris"), [kept("I live in Berlin", 5)]);
    expect(text).toBe("You asked me to remember (2026-03-01 09:05, 1a2b3c4d): “I live in Berlin”");
  });

  it("and replaces a fact that was kept earlier", () => {
    const turns = [turnOf(9, "I live in Rome now")];
    expect(answer("where do I live?", turns, [kept("I live in Berlin", 5)])).toContain(
      "“I live in Rome now”",
    );
  });

  it("but what the assistant noted later takes the place of nothing", () => {
    const noted = kept("The user lives in Berlin", 5, { said_by: "assistant" });
    expect(answer("where do I live?", said("I live in Paris"), [noted])).toContain("“I live in Paris”");
  });
});

describe("what is about somebody else is not quoted", () => {
  it.each([
    ["what is Bob's name?", "my name is Anna"],
    ["where does Bob live?", "I live in Berlin"],
    ["where does bob live?", "I live in Berlin"],
    ["Is Bob vegan?", "I am vegan"],
    ["what is my name?", "my wife's name is Clara"],
    ["what is my flight?", "Bob's flight is KL9"],
    ["where do I live?", "Bob lives in London"],
  ])("%s %s", (question, statement) => {
    expect(answer(question, said(statement))).toContain("Nothing in this conversation says anything about");
    expect(answer(question, [], [kept(statement, 1)])).not.toContain(statement);
  });

  it.each([
    ["what is Bob's flight?", "Bob's flight is KL9"],
    ["where does Bob live?", "my brother Bob lives in London"],
    ["what is my wife's name?", "my wife's name is Clara"],
    ["where do I live?", "The user lives in Berlin"],
    ["what is my name?", "my first name is Anna"],
    ["What's the plan for today?", "the plan: a swim"],
    ["when does the train leave?", "the train leaves at nine"],
  ])("but %s finds: %s", (question, statement) => {
    expect(answer(question, said(statement))).toContain(`“${statement}”`);
  });
});

describe("a correction in passing", () => {
  const quoted = "You asked me to remember (2026-03-01 09:00, 1a2b3c4d): “I live in Berlin”";
  const asked = turnOf(1, "where do I live?", quoted);

  it("is answered with the way to correct the fact itself", () => {
    expect(answer("no, it is Rome", [asked])).toBe(
      "Noted in this conversation. What is remembered stays as it is: /memory edit 1a2b3c4d <text> corrects it.",
    );
  });

  it("is told of when the fact is quoted again", () => {
    const turns = [asked, turnOf(2, "no, it is Rome")];
    expect(answer("where do I live?", turns, [kept("I live in Berlin", 0)])).toBe(
      `${quoted} You said in turn 2 (2026-03-01 09:02), when that was quoted: “no, it is Rome”`,
    );
  });

  it.each(["no", "No.", "nothing new", "no, is it?"])("is not %j", (text) => {
    expect(answer(text, [asked])).not.toContain("/memory edit");
  });

  it("is none where no fact was quoted before it", () => {
    expect(answer("no, it is Rome", said("I live in Berlin"))).toMatch(/^Noted\. Ask/u);
  });
});
