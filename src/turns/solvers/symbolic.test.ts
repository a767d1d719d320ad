import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { turnRecord } from "#src/sessions/testing/turn-body.ts";
import type { HeldUnit } from "#src/sessions/knowledge-units.ts";
import type { TurnBody, TurnRecord } from "#src/sessions/turn-record.ts";
import type { MemoryRecord } from "#memory/record.ts";
import { memoryRecord } from "#memory/testing/memory-record.ts";
import { solveSymbolically, type SymbolicAnswer } from "./symbolic.ts";

const AT = "2026-03-01T22:30:00.000Z";
const FACT_ID = "1a2b3c4d-0000-4000-8000-000000000000";

function turnOf(turn: number, user: string, changes: Partial<TurnBody> = {}): TurnRecord {
  return turnRecord({
    turn,
    at: AT,
    messages: [
      { role: "user", content: user, timestamp: AT },
      { role: "assistant", content: "Noted. Ask me about it any time.", timestamp: AT },
    ],
    ...changes,
  });
}

const said = (...texts: string[]): TurnRecord[] => texts.map((text, index) => turnOf(index + 1, text));

const ask = (text: string, turns: readonly TurnRecord[]): SymbolicAnswer =>
  solveSymbolically({ text, turns, sessionId: "s1", timeZone: "UTC" });

/** The turn on which an answer rests. */
const turnIn = ({ sources: [source] }: SymbolicAnswer): number | undefined =>
  source?.kind === "turn" ? source.turn : undefined;

const FACTS = [
  "My locker code is 4711.",
  "My sister Anna lives in Lisbon.",
  "The dentist appointment is on Thursday at nine.",
  "I am allergic to walnuts.",
  "We are going to Norway in July.",
  "My violin lessons are on Monday.",
  "The neighbour's cat is called Hugo.",
];

describe("the symbolic solver", () => {
  it.each([
    ["Where does Anna live?", 2],
    ["What is my locker code?", 1],
    ["when is the dentist appointment", 3],
    ["Am I allergic to anything?", 4],
    ["Tell me about Norway", 5],
    ["WHEN IS MY VIOLIN LESSON?", 6],
    ["What's the name of the cat?", 7],
  ])("answers %j from the one turn among many that says so", (question, turn) => {
    const answer = ask(question, said(...FACTS));
    expect(answer.sources).toEqual([{ kind: "turn", sessionId: "s1", turn }]);
    expect(answer.text).toContain(FACTS[turn - 1]);
  });

  it("finds every one of many facts by its own word", () => {
    const facts = Array.from(
      { length: 300 },
      (_, index) => `Parcel number ${1000 + index} is on shelf ${index % 7}`,
    );
    const turns = said(...facts);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 299 }), (index) => {
        expect(turnIn(ask(`Where is parcel ${1000 + index}?`, turns))).toBe(index + 1);
      }),
      { numRuns: 10 },
    );
  });

  it("prefers the newer of two statements that fit as well", () => {
    const turns = said("My favourite colour is red", "It rains", "My favourite colour is blue");
    expect(turnIn(ask("What is my favourite colour?", turns))).toBe(3);
  });

  it("prefers a better fit to a newer one", () => {
    const turns = said("My red car is in the garage", "I washed the car");
    expect(turnIn(ask("Where is my red car?", turns))).toBe(1);
  });

  it("says in which turn and at what local time it was said", () => {
    const answer = solveSymbolically({
      text: "What is my locker code?",
      turns: said("My locker code is 4711"),
      sessionId: "s1",
      timeZone: "Asia/Tokyo",
    });
    expect(answer.text).toBe("You said in turn 1 (2026-03-02 07:30): “My locker code is 4711”");
  });

  it("says so when the turn is of a session that this one continues", () => {
    const turns = [turnOf(4, "My locker code is 4711", { sessionId: "s0" })];
    const answer = ask("What is my locker code?", turns);
    expect(answer.text).toContain("You said in turn 4 of an earlier session");
    expect(answer.sources).toEqual([{ kind: "turn", sessionId: "s0", turn: 4 }]);
  });
});

describe("what the symbolic solver does not know", () => {
  it("is said, where nothing supports an answer", () => {
    const answer = ask("What is the capital of Peru?", said(...FACTS));
    expect(answer.text).toMatch(/^I don't have that\. Nothing .* says anything about capital, peru\./u);
    expect(answer.sources).toEqual([]);
  });

  it("is said before what comes nearest, which is cited", () => {
    const answer = ask("What is Anna's phone number at work?", said(...FACTS));
    expect(answer.text).toMatch(/^I don't have that\. What comes nearest: You said in turn 2 \(.*Lisbon/u);
    expect(answer.sources).toEqual([{ kind: "turn", sessionId: "s1", turn: 2 }]);
  });

  it("is said as a part, where only a part of it was", () => {
    expect(ask("What's the name of the cat?", said(...FACTS)).text).toMatch(/^Not in so many words; .*Hugo/u);
  });
});

describe("the symbolic solver and knowledge units", () => {
  const unit = (changes: Partial<HeldUnit>): HeldUnit => ({
    role: "Constraint",
    topic: "deployment environment",
    claim: "The system must run on CPU only.",
    turn: 1,
    n: 1,
    ...changes,
  });
  const askWith = (text: string, units: readonly HeldUnit[], turns = said(...FACTS)): SymbolicAnswer =>
    solveSymbolically({ text, turns, units, sessionId: "s1", timeZone: "UTC" });

  it("quotes one that came in from elsewhere, found by its topic too, and cites it", () => {
    const answer = askWith("What is the deployment environment?", [unit({ id: "x", turn: 9 })]);
    expect(answer.text).toBe("Noted in turn 9: “The system must run on CPU only.”");
    expect(answer.sources).toEqual([{ kind: "unit", turn: 9, n: 1 }]);
  });

  it("quotes the turn itself, and not its sentence a second time", () => {
    const own = unit({ role: "Statement", topic: "", claim: "My locker code is 4711." });
    expect(askWith("What is my locker code?", [own]).sources).toEqual([
      { kind: "turn", sessionId: "s1", turn: 1 },
    ]);
  });
});

describe("the symbolic solver in other scripts", () => {
  it.each([
    ["Chinese", ["我住在北京", "我的狗很大", "今天下雨"], "我住在哪里？", 1],
    ["Chinese with a Latin question mark", ["我喜欢喝咖啡", "我住在北京"], "北京怎么样?", 2],
    ["Hebrew", ["אני גר בחיפה", "הכלב שלי בשם רקס", "יורד גשם"], "מה שם הכלב שלי?", 2],
    ["Thai", ["ฝนตกวันนี้", "แมวของฉันชื่อส้ม", "ฉันชอบกาแฟ"], "แมวของฉันชื่ออะไร?", 2],
    ["Arabic", ["أسكن في القاهرة", "قطتي اسمها لولو"], "ما اسم قطتي؟", 2],
    ["Russian", ["Мою кошку зовут Мурка", "Идёт дождь"], "Как зовут мою кошку?", 1],
    ["Japanese", ["私の犬はポチです", "東京に住んでいます"], "東京に住んでいますか？", 2],
    [
      "German",
      ["Mein Schließfach hat die Nummer 4711", "Es regnet"],
      "Welche Nummer hat mein Schließfach?",
      1,
    ],
  ])("answers in %s", (_script, statements, question, turn) => {
    const answer = ask(question, said(...statements));
    expect(turnIn(answer)).toBe(turn);
    expect(answer.text).toContain(statements[turn - 1]);
  });

  it("finds a name in decomposed or full-width form", () => {
    expect(turnIn(ask("Where does Zoë live?", said("Zoe\u0308 lives in Ghent")))).toBe(1);
    expect(turnIn(ask("What is Ｔｏｋｙｏ like?", said("Tokyo is large")))).toBe(1);
  });
});

describe("what the symbolic solver never quotes", () => {
  it.each([
    "What is my locker code?",
    "What is my locker code",
    "my locker code?",
    "locker code？",
    "locker code؟ ",
    "  Is my locker code 4711",
    "TELL ME my locker code",
    "who's got my locker code",
  ])("is a question, such as %j", (question) => {
    expect(ask("What is my locker code?", said(question)).sources).toEqual([]);
  });

  it("is a question, even when it fits better than every statement", () => {
    const turns = said("The code is 4711", "What is my locker code?", "What was my locker code?");
    expect(turnIn(ask("What is my locker code?", turns))).toBe(1);
  });

  it("is what was said by the assistant, a tool or the system", () => {
    const messages = (["assistant", "tool", "system"] as const).map((role) => ({
      role,
      content: "The locker code is 4711",
      timestamp: AT,
    }));
    expect(ask("What is the locker code?", [turnOf(1, "x", { messages })]).sources).toEqual([]);
  });

  it("is a command", () => {
    const turns = [turnOf(1, "/title locker code", { kind: "command" })];
    expect(ask("What is the locker code?", turns).sources).toEqual([]);
  });

  it("is anything but what the quoted turns say", () => {
    const word = fc.constantFrom("red", "car", "Anna", "what", "is", "?", "猫", "Oslo");
    const text = fc.array(word, { minLength: 1, maxLength: 5 }).map((words) => words.join(" "));
    fc.assert(
      fc.property(fc.array(text, { maxLength: 6 }), text, (texts, question) => {
        const solved = ask(question, said(...texts));
        const quotes = Array.from(solved.text.matchAll(/“(.*)”/gu), ([, quote]) => quote ?? "");
        expect(quotes).toHaveLength(solved.sources.length);
        for (const [index, quote] of quotes.entries()) {
          expect(quote.endsWith("?")).toBe(false);
          const source = solved.sources[index];
          expect(source?.kind === "turn" ? texts[source.turn - 1] : "").toContain(quote);
        }
      }),
    );
  });
});

describe("several statements that fit", () => {
  const turnsOf = ({ sources }: SymbolicAnswer): number[] =>
    sources.flatMap((source) => (source.kind === "turn" ? [source.turn] : []));

  it.each([
    ["do I like coffee?", "I like drinking coffee", "I do not like coffee any more, I like tea now"],
    ["do I smoke?", "I smoke", "I quit smoking in May"],
    ["where is my passport?", "my passport is in the desk", "Passport moved to the safe"],
  ])("M-3: the later is not hidden behind the earlier: %s", (question, earlier, later) => {
    const answer = ask(question, said(earlier, "It rains", later));
    expect(turnsOf(answer)).toEqual([3, 1]);
    expect(answer.text).toBe(
      `- You said in turn 3 (2026-03-01 22:30): “${later}”\n- You said in turn 1 (2026-03-01 22:30): “${earlier}”`,
    );
  });

  it.each([
    ["what am I allergic to?", ["I am allergic to walnuts", "I am allergic to penicillin"]],
    ["what are my allergies?", ["I am allergic to walnuts", "I am allergic to penicillin"]],
    [
      "Any allergies?",
      [
        "I have an allergy to latex",
        "As a child I was told by a doctor in Ghent that I am allergic to shellfish and to nuts",
        "allergic to bees",
      ],
    ],
  ])("M-4: all that fit equally well are quoted: %s", (question, statements) => {
    const answer = ask(question, said(...statements, "It rains"));
    expect(turnsOf(answer)).toEqual(statements.map((_one, index) => statements.length - index));
    for (const statement of statements) expect(answer.text).toContain(`“${statement}”`);
  });

  it("M-4: what is more than can be quoted is counted", () => {
    const turns = said(...Array.from({ length: 14 }, (_one, index) => `I am allergic to number ${index}`));
    const answer = ask("what am I allergic to?", turns);
    expect(answer.sources).toHaveLength(10);
    expect(turnsOf(answer)[0]).toBe(14);
    expect(answer.text).toMatch(/\nAnd 4 more that fit as well: \/recall/u);
  });

  it("of memory and of the conversation stand in one order, by their dates", () => {
    const fact = memoryRecord({
      id: FACT_ID,
      text: "I live in Ghent",
      created_at: "2026-02-01T09:00:00.000Z",
    });
    const [turns, later] = [said("I live in Oslo"), "2026-04-01T09:00:00.000Z"];
    const solve = (memory: MemoryRecord): string[] =>
      solveSymbolically({
        text: "where do I live?",
        turns,
        sessionId: "s1",
        timeZone: "UTC",
        memories: [memory],
      }).sources.map(({ kind }) => kind);
    expect(solve(fact)).toEqual(["turn", "fact"]);
    expect(solve({ ...fact, created_at: later })).toEqual(["fact", "turn"]);
  });
});

describe("what a recall brought in", () => {
  const recalled = [{ sessionId: "s0", turn: 1, at: AT, score: 1, rationale: "why" }];
  const recall = turnOf(2, "/recall locker", {
    kind: "command",
    messages: [
      { role: "user", content: "/recall locker", timestamp: AT },
      { role: "assistant", content: "User: My locker code is 4711", timestamp: AT },
    ],
    explanation: { requestId: "r", recalled },
  });

  it("is quoted as recalled", () => {
    const answer = ask("What is my locker code?", [recall]);
    expect(answer.text).toBe("Recalled in turn 2: “My locker code is 4711”");
    expect(answer.sources).toEqual([{ kind: "turn", sessionId: "s1", turn: 2 }]);
  });

  it("does not make the command itself a statement", () => {
    const bare = { ...recall, messages: recall.messages.slice(0, 1) };
    expect(ask("Which locker?", [bare]).sources).toEqual([]);
  });
});

describe("what the symbolic solver says without a statement to quote", () => {
  it("is that it noted a statement", () => {
    const answer = ask("My locker code is 4711.", said("My locker code is 4711."));
    expect(answer.sources).toEqual([]);
    expect(answer.text).toMatch(/^Noted\./u);
  });

  it("names what was asked for and the way to earlier sessions", () => {
    const answer = ask("Where did I park the bicycle?", said("It rains"));
    expect(answer.text).toContain("park, bicycle");
    expect(answer.text).toContain("/recall");
  });

  it("names no more than five words", () => {
    const answer = ask("alpha beta gamma delta epsilon zeta eta?", []);
    expect(answer.text).toContain("alpha, beta, gamma, delta, epsilon.");
  });

  it("is readable when the question has no word of its own", () => {
    for (const question of ["?", "What is it?", "？"])
      expect(ask(question, []).text).toContain("about that.");
  });
});

describe("long texts", () => {
  const filler = "The quick brown fox jumps over the lazy dog. ".repeat(230);

  it("are answered from when 10 kB stand around the fact", () => {
    const turns = said(filler, `${filler} My locker code is 4711. ${filler}`, filler);
    expect(turnIn(ask("What is my locker code?", turns))).toBe(2);
  });

  it("are taken as a question of 10 kB", () => {
    const question = `${"padding ".repeat(1300)} what is my locker code?`;
    expect(turnIn(ask(question, said("It rains", "My locker code is 4711")))).toBe(2);
  });

  it("are answered without delay when 10 kB have no white space or end in much of it", () => {
    const begin = performance.now();
    for (const text of [
      "a".repeat(10_000),
      "猫".repeat(10_000),
      `x${" ".repeat(10_000)}x`,
      "?".repeat(10_000),
    ])
      ask("What is my locker code?", said(text, `${text} y`));
    expect(performance.now() - begin).toBeLessThan(5_000);
  });

  it("take nothing away from a short statement that fits", () => {
    const turns = said("My locker code is 4711", `${filler} locker`);
    expect(turnIn(ask("What is my locker code?", turns))).toBe(1);
  });
});

describe("what is remembered", () => {
  const remembered = (text: string, changes: Partial<MemoryRecord> = {}): MemoryRecord =>
    memoryRecord({
      id: FACT_ID,
      text,
      created_at: AT,
      updated_at: AT,
      ...changes,
    });
  const answer = (text: string, turns: readonly TurnRecord[], memories: readonly MemoryRecord[]): string =>
    solveSymbolically({ text, turns, sessionId: "s1", timeZone: "UTC", memories }).text;

  it("answers where the conversation says nothing, with its day and id", () => {
    expect(answer("What is my bike?", said(...FACTS), [remembered("My bike is a Brompton")])).toBe(
      "You asked me to remember (2026-03-01 22:30, 1a2b3c4d): “My bike is a Brompton”",
    );
  });

  it("says who noted it, when that was not the person", () => {
    const noted = remembered("The user has a Brompton bike", { said_by: "assistant" });
    expect(answer("What is my bike?", [], [noted])).toMatch(/^Noted by assistant/u);
  });

  it("comes behind what the conversation says as well", () => {
    const facts = [remembered("My bike is a Brompton")];
    expect(answer("What is my bike?", said("My bike is a Moulton"), facts)).toContain("Moulton");
  });

  it("is named with the command that lists it where nothing fits a question", () => {
    const facts = [remembered("My bike is a Brompton")];
    expect(answer("Which zebra is it?", said(...FACTS), facts)).toContain(
      "/memory show lists what is remembered",
    );
    expect(answer("Which zebra is it?", said(...FACTS), [])).not.toContain("/memory show");
  });

  it("is no answer to what is not asked", () => {
    expect(answer("My bike was stolen.", [], [remembered("My bike is a Brompton")])).toMatch(/^Noted/u);
  });
});
