import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rankTexts, segmentedWords, STOP_WORDS, termsOf, wordsOf } from "./words.ts";

const self = (text: string): string => text;
const ranked = (items: readonly string[], query: string): string[] =>
  rankTexts(items, query, self).map(({ item }) => item);

describe("the terms of a text", () => {
  it.each([
    ["white space", " \t\n\u00a0\u3000 "],
    ["punctuation", "?!… — «»、。"],
    ["English words without a topic", "What was it that they said about you?"],
    ["nothing", ""],
  ])("are none for %s", (_what, text) => {
    expect(termsOf(text)).toEqual([]);
  });

  it("are in the order of the text and repeat with it", () => {
    expect(termsOf("tea, coffee, tea")).toEqual(["tea", "coffee", "tea"]);
  });

  it.each([
    ["singular and plural", "trips", "trip"],
    ["a plural in -ies and its singular", "cities", "city"],
    ["forms in -ing and -ed", "booking", "booked"],
    ["upper and lower case", "LISBON", "lisbon"],
    ["a possessive with a typographic apostrophe", "Anna’s", "anna"],
    ["a possessive with a straight apostrophe", "Anna's", "anna"],
    ["full-width and plain letters", "Ｔｏｋｙｏ", "tokyo"],
    ["a ligature and its letters", "ﬁsh", "fish"],
    ["composed and decomposed accents", "café", "cafe\u0301"],
    ["Greek in upper and lower case, final sigma included", "ΟΔΟΣ", "οδος"],
  ])("are the same for %s", (_what, one, other) => {
    expect(termsOf(one)).toEqual(termsOf(other));
    expect(termsOf(one)).toHaveLength(1);
  });

  it("leave a word that ends in double s alone", () => {
    expect(termsOf("glass")).toEqual(["glass"]);
  });

  it("keep short words and numbers as they are", () => {
    expect(termsOf("gas bus 4711 3.14")).toEqual(["gas", "bus", "4711", "3.14"]);
  });

  it.each([
    ["Chinese", "我住在北京", "北京"],
    ["Hebrew", "הכלב שלי בשם רקס", "רקס"],
    ["Russian", "Мою кошку зовут Мурка", "мурка"],
  ])("are found in %s", (_script, text, word) => {
    expect(termsOf(text)).toContain(word);
  });

  it("are several for Thai, which writes no spaces", () => {
    expect(termsOf("แมวของฉันชื่อส้ม").length).toBeGreaterThan(1);
  });

  it("never hold a stop word, upper case or an empty text, and never throw", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        for (const term of termsOf(text)) {
          expect(term).not.toBe("");
          expect(term).toBe(term.toLowerCase());
        }
      }),
    );
    expect([...STOP_WORDS].flatMap(termsOf)).toEqual([]);
  });

  it("do not depend on white space around the text", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(termsOf(`  ${text}\n`)).toEqual(termsOf(text));
      }),
    );
  });
});

describe("ranking texts by a question", () => {
  it("leaves out texts that share no word with it", () => {
    expect(ranked(["my cat is grey", "it rains"], "cat")).toEqual(["my cat is grey"]);
  });

  it.each([
    ["there is no text", [], "cat"],
    ["the question is blank", ["my cat"], " "],
    ["the question has only stop words", ["what is it"], "what is it?"],
  ])("finds nothing when %s", (_when, items, query) => {
    expect(ranked(items, query)).toEqual([]);
  });

  it("puts the text that shares more words first", () => {
    expect(ranked(["green tea", "green tea in Kyoto"], "tea in Kyoto")[0]).toBe("green tea in Kyoto");
  });

  it("weighs a rare word more than a frequent one", () => {
    const items = ["tea one", "tea two", "tea three", "zebra four"];
    expect(ranked(items, "tea zebra")[0]).toBe("zebra four");
  });

  it("prefers the shorter of two texts that share the same word as often", () => {
    const long = `harbour ${"filler ".repeat(50)}`;
    expect(ranked([long, "harbour view"], "harbour")[0]).toBe("harbour view");
  });

  it("keeps the given order among equals", () => {
    const items = [1, 2, 3].map((number) => ({ number, text: "the same words" }));
    const order = rankTexts(items, "words", ({ text }) => text).map(({ item }) => item.number);
    expect(order).toEqual([1, 2, 3]);
  });

  it("counts a word that the question repeats once", () => {
    const once = rankTexts(["tea", "cake"], "tea cake", self);
    const often = rankTexts(["tea", "cake"], "tea tea tea cake", self);
    expect(often).toEqual(once);
  });

  it("copes with texts that have no words at all", () => {
    expect(ranked(["", "…", "tea"], "tea")).toEqual(["tea"]);
  });

  it("gives scores above 0, best first, each item at most once", () => {
    const word = fc.constantFrom("tea", "cake", "rain", "sun", "the", "猫", "שלום");
    const text = fc.array(word, { maxLength: 8 }).map((words) => words.join(" "));
    fc.assert(
      fc.property(fc.array(text, { maxLength: 12 }), text, (texts, query) => {
        const items = texts.map((value, index) => ({ value, index }));
        const result = rankTexts(items, query, ({ value }) => value);
        const scores = result.map(({ score }) => score);
        expect(scores.every((score) => score > 0 && Number.isFinite(score))).toBe(true);
        expect(scores).toEqual(scores.toSorted((a, b) => b - a));
        expect(new Set(result.map(({ item }) => item.index)).size).toBe(result.length);
      }),
    );
  });

  it("finds every text that shares a word, however common the word is", () => {
    expect(ranked(["tea", "tea", "tea"], "tea")).toHaveLength(3);
  });
});

describe("the words of plain ASCII", () => {
  it("are those that Unicode's rules find, whatever marks are between them", () => {
    const unit = fc.constantFrom(...Array.from(`abZ019 .,':;_-/\\"()@#$%&*+<=>?![]{}|~^\`\t\n`));
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 12 }), (text) => {
        expect(wordsOf(text)).toEqual(segmentedWords(text.toLowerCase()));
      }),
      { numRuns: 3_000 },
    );
  });
});
