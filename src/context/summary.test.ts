import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { TurnRecord } from "#src/sessions/turn-record.ts";
import { holdsIn, identifiersIn } from "./identifiers.ts";
import { checkedSummary, quotingSummary, type SummaryOptions } from "./summary.ts";
import { sectionTokens } from "./system-prompt.ts";

const AT = "2026-03-01T09:00:00.000Z";

function turnOf(turn: number, said: string, answer = "Fine."): TurnRecord {
  return {
    v: 1,
    sessionId: "s1",
    turn,
    kind: "chat",
    status: "completed",
    deliveryId: `m${turn}`,
    textHash: "",
    at: AT,
    messages: [
      { role: "user", content: said, timestamp: AT },
      { role: "assistant", content: answer, timestamp: AT },
    ],
    reply: {},
    explanation: { requestId: `r${turn}` },
    salt: "",
    leaf: "",
    head: `h${turn}`,
  };
}

const turnsOf = (...said: readonly string[]): TurnRecord[] =>
  said.map((text, index) => turnOf(index + 1, text));

const options = (budgetTokens = 4_000): SummaryOptions => ({
  budgetTokens,
  kept: [],
  sessionId: "s1",
  nameOf: () => "session 1",
});

const found = (text: string, tier = 3): string[] =>
  identifiersIn([text]).flatMap((of) => of.filter((one) => one.tier <= tier).map(({ text: word }) => word));

describe("what must not be lost of a text", () => {
  it.each([
    ["My flight BA117 leaves on 2026-05-01 at 07:40.", ["BA117", "2026-05-01", "07:40"]],
    ["the vault code word is ZEBRA-7, ask Łukasz", ["ZEBRA-7", "Łukasz"]],
    ["call Anna Schmidt in São Paulo", ["Anna", "Schmidt", "São", "Paulo"]],
    ["see https://x.example/a?b=1, or mail a.b@c.example.", ["https://x.example/a?b=1", "a.b@c.example"]],
    ["it costs €1,250.50, that is 12.5%", ["€1,250.50", "12.5%"]],
    ["he said “never again” and `git push`", ["never again", "git push"]],
    ["rename getUserName in src/app/main.ts", ["getUserName", "src/app/main.ts"]],
    ["航班BA117在5月1日起飞", ["BA117", "5月1日"]],
    ["ユーザーのコードは「青い空」です", ["ユーザー", "コード", "青い空"]],
    ["```\nconst port = 8081;\n```", ["8081"]],
    ["please write me a poem about the sea", []],
  ])("finds it in %j", (text, expected) => {
    expect(found(text)).toEqual(expected);
  });

  it("takes no noun for a name where nouns are written with capitals, and keeps the codes", () => {
    const german = `${"Der Hund schläft im Garten und die Katze liegt auf dem alten Sofa. ".repeat(10)}Der Code ist K-77.`;
    expect(found(german)).toEqual(["K-77"]);
  });

  it("is held by a text where it stands by itself, in any case and width", () => {
    const holds = holdsIn("Flight ba117, ＰＩＮ 4711.");
    expect([holds("BA117"), holds("PIN"), holds("4711"), holds("47"), holds("11")]).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
  });
});

/** Something planted, and text around it in many scripts. */
const planted = fc.oneof(
  fc.stringMatching(/^[A-Z]{2,5}-\d{2,5}$/u),
  fc.stringMatching(/^20\d\d-0[1-9]-[12]\d$/u),
  fc.stringMatching(/^[a-z]{2,6}\d{3}$/u),
);
const prose = fc.oneof(
  fc.lorem({ maxCount: 60 }),
  fc.constant("Ich habe heute mit Jürgen über den Garten gesprochen, 👩‍👩‍👧 und danach war Ruhe "),
  fc.constant("今日は天気がいいですね。散歩に行きましょう"),
  fc.constant("```js\nif (a && b) { return `x${y}`; }\n```\n"),
  fc.string({ unit: "grapheme", maxLength: 200 }),
);

describe("a summary in quotations", () => {
  it("never loses a planted identifier, whatever stands around it", () => {
    const said = fc.array(fc.tuple(prose, planted, prose), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(said, (parts) => {
        const turns = turnsOf(...parts.map(([before, mark, after]) => `${before} ${mark} ${after}`));
        const { text, leftOut } = quotingSummary(undefined, turns, options(60_000));
        expect(leftOut).toBe(0);
        const holds = holdsIn(text);
        expect(parts.map(([, mark]) => mark).filter((mark) => !holds(mark))).toEqual([]);
      }),
    );
  });

  it("never takes more than its budget, cuts no character in two, and says how many quotations it has no room for", () => {
    const said = fc.array(fc.tuple(prose, planted, prose), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(said, fc.integer({ min: 120, max: 800 }), (parts, budget) => {
        const turns = turnsOf(...parts.map((part) => part.join(" ")));
        const { text, leftOut } = quotingSummary(undefined, turns, options(budget));
        expect(sectionTokens({ text })).toBeLessThanOrEqual(budget);
        expect(text.isWellFormed()).toBe(true);
        const isAllThere = parts.every(([, mark]) => holdsIn(text)(mark));
        expect(isAllThere || leftOut > 0).toBe(true);
      }),
    );
  });

  it("is the same made at once and made in two steps, where all has room", () => {
    const turns = turnsOf("the code is A-1", "and B-2 on 2026-05-01", "no more", "call Anna");
    const older = quotingSummary(undefined, turns.slice(0, 2), options());
    expect(quotingSummary(older, turns.slice(2), options()).text).toBe(
      quotingSummary(undefined, turns, options()).text,
    );
  });

  it("names turns, quotes the person, and says in short how the rest began", () => {
    const turns = [
      turnOf(3, "My locker is 4711. Thanks a lot for that!", "Noted."),
      turnOf(4, "so?", "So what?"),
    ];
    expect(quotingSummary(undefined, turns, options()).text).toBe(
      "turn 3: “My locker is 4711.” “Thanks a lot for that!” answered “Noted.”\nturn 4: “so?” answered “So what?”",
    );
  });

  it("keeps what is said in one line where another turn pastes a page of numbers", () => {
    const page = Array.from({ length: 400 }, (_, index) => `row ${index + 1000}\n`).join("");
    const { text } = quotingSummary(undefined, turnsOf("the vault is ZEBRA-7", page), options(600));
    expect(text).toContain("ZEBRA-7");
    expect(text).toMatch(/\(\d+ older quotations have no room here/u);
  });

  it("keeps codes longest where small numbers of later turns want the room too", () => {
    const turns = turnsOf(
      "the vault is ZEBRA-7",
      ...Array.from({ length: 14 }, (_, at) => `message ${at} goes on for a while`),
    );
    expect(quotingSummary(undefined, turns, options(160)).text).toContain("ZEBRA-7");
  });

  it("has what its savers keep, before all else", () => {
    const kept = [{ sessionId: "s1", turn: 1, text: "task noted: water the plants" }];
    const turns = turnsOf("hello there", `the code is A-1 ${"and B-2 ".repeat(60)}`);
    const { text } = quotingSummary(undefined, turns, { ...options(160), kept });
    expect(text).toContain("turn 1: task noted: water the plants");
    const again = quotingSummary(quotingSummary(undefined, turns, { ...options(), kept }), [], options());
    expect(again.text).not.toContain("water the plants");
  });
});

describe("a model's summary", () => {
  const turns = turnsOf("My flight BA117 leaves on 2026-05-01", "write to Anna Schmidt about the oak table");
  const quoting = quotingSummary(undefined, turns, options());

  it("stands where it has all that must not be lost", () => {
    const text = "Flight BA117 on 2026-05-01; a letter to Anna Schmidt about an oak table.";
    expect(checkedSummary(text, quoting, options())?.text).toBe(text);
  });

  it("has what it drops quoted behind it, with the number of the turn", () => {
    const checked = checkedSummary("The user flies on 2026-05-01 and writes to Anna.", quoting, options());
    expect(checked?.text).toBe(
      "The user flies on 2026-05-01 and writes to Anna.\nIn so many words: turn 1: “My flight BA117 leaves on 2026-05-01”; " +
        "turn 2: “write to Anna Schmidt about the oak table”",
    );
  });

  it("gives way where it is empty, or comes to more than the budget with what it lacks", () => {
    expect(checkedSummary(" \n", quoting, options())).toBeUndefined();
    expect(checkedSummary("word ".repeat(400), quoting, options(200))).toBeUndefined();
  });
});
