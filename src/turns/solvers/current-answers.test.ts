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

describe("a correction in conversation", () => {
  it.each([
    ["where do I live?", ["I live in Lisbon", "Actually it's Porto, not Lisbon"], 2],
    ["where do I live?", ["I live in Lisbon", "I no longer live in Lisbon"], 2],
    ["where do I live?", ["I live in Porto", "I no longer live in Lisbon"], 1],
    ["where do I live?", ["I live in Lisbon", "I've moved to Porto"], 2],
    ["where do I live?", ["I live in Oslo", "I live in fear of spiders"], 1],
    ["我住在哪里？", ["我住在北京", "我搬到上海了"], 2],
    ["Где я живу?", ["Я живу в Москве", "Я переехал в Казань"], 2],
    ["¿Dónde vivo?", ["Vivo en Madrid", "Me mudé a Sevilla"], 2],
    ["Wo wohne ich?", ["Ich wohne in Graz", "Ich wohne nicht mehr in Graz"], 2],
    ["do I eat meat?", ["I don't eat meat", "I eat meat"], 2],
    ["do I smoke?", ["I smoke", "I quit smoking"], 2],
    ["what do you call me?", ["Call me Kim", "Call me Lee"], 2],
    ["what is my flight?", ["my flight is BA117", "my flight is BA118, not BA117"], 2],
    ["when is my meeting?", ["my meeting is on Monday", "my meeting was moved to Tuesday"], 2],
    ["how many kids do I have?", ["I have two kids", "I have three kids"], 2],
    ["where does Bob live?", ["Bob lives in London", "Bob moved to Leeds"], 2],
    ["where do I work?", ["I work at Acme", "I left Acme, I work at Globex now"], 2],
    ["what colour is my car?", ["my car is red", "my car isn't red"], 2],
  ])("%s %j", (question, statements, which) => {
    const text = answer(question, said(...statements));
    expect(text).toContain(`“${statements[which - 1]}”`);
    expect(text).not.toContain(`“${statements[2 - which]}”`);
  });

  it.each([
    ["where do I live?", "Ich wohne in Graz"],
    ["wo wohne ich?", "I live in Lisbon"],
    ["where do I live?", "我住在北京"],
    ["Как меня зовут?", "My name is Kim"],
  ])("is found in another language than the question's: %s %s", (question, statement) => {
    expect(answer(question, said("I like jazz", statement))).toContain(`“${statement}”`);
  });

  it.each([
    ["what is my sister called?", ["my sister's name is Ana", "my sister is called Ida"]],
    ["where do I live?", ["I live in Paris in summer", "I live in Rome in winter"]],
    ["where does my brother live?", ["My brother lives in London", "My brother lives in Leeds"]],
  ])("is not guessed where both may be true: %s", (question, [first = "", second = ""]) => {
    expect(answer(question, said(first, second))).toBe(
      `You said in turn 2 (2026-03-01 09:02): “${second}” Besides: You said in turn 1 (2026-03-01 09:01): “${first}”`,
    );
  });

  it("that does not say what it corrects is told with what was said before it", () => {
    expect(answer("what is my flight?", said("my flight is BA117", "no, BA118"))).toBe(
      "You said in turn 1 (2026-03-01 09:01): “my flight is BA117” You said in turn 2 (2026-03-01 09:02), right behind it: “no, BA118”",
    );
  });

  it("of a place that two sentences name takes the place of neither", () => {
    const turns = said("I live in Lisbon", "My mother was born in Lisbon", "it's Porto, not Lisbon");
    expect(answer("where do I live?", turns)).toContain("“I live in Lisbon”");
  });

  it("by the assistant is told beside the user's word", () => {
    const noted = kept("The user moved to Porto", 5, { said_by: "assistant" });
    expect(answer("where do I live?", said("I live in Paris"), [noted])).toBe(
      "You said in turn 1 (2026-03-01 09:01): “I live in Paris” Besides: Noted by assistant (2026-03-01 09:05, 1a2b3c4d): “The user moved to Porto”",
    );
  });
});

describe("what an answer rests on", () => {
  const solve = (text: string, turns: readonly TurnRecord[], memories: readonly MemoryRecord[] = []) =>
    solveSymbolically({ text, turns, sessionId: "s1", timeZone: "UTC", memories }).sources;

  it("is told by its place: a turn, a fact, or both", () => {
    const fact = kept("my sister is called Ida", 5);
    const turns = said("my sister's name is Ana");
    const [ofFact, ofTurn] = [
      { kind: "fact", id: fact.id },
      { kind: "turn", sessionId: "s1", turn: 1 },
    ];
    expect(solve("what is my sister called?", [], [fact])).toEqual([ofFact]);
    expect(solve("what is my sister called?", turns)).toEqual([ofTurn]);
    expect(solve("what is my sister called?", turns, [fact])).toEqual([ofFact, ofTurn]);
  });

  it("is all that is listed", () => {
    const facts = [kept("I like jazz", 1), kept("I live in Oslo", 2, { id: crypto.randomUUID() })];
    expect(solve("what do you know about me?", [], facts)).toEqual(
      facts.map(({ id }) => ({ kind: "fact", id })),
    );
  });

  it("is nothing where nothing answers", () => {
    expect(solve("what is my shoe size?", said("I like jazz"))).toEqual([]);
  });
});
