import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { saysAny, saysOf, saysPartOf } from "./says.ts";

const cases: readonly [fact: string, text: string, isSaid: boolean, why: string][] = [
  ["I like tea", "Well, I like tea.", true, "the whole fact"],
  ["I like tea", "i  LIKE\ntea!!", true, "case, spacing and punctuation"],
  ["I like tea", "Ｉ ｌｉｋｅ ｔｅａ", true, "width"],
  ["I like tea", "I like teasing people", false, "another word that begins alike"],
  ["I like tea", "You said that tea is what you like most", true, "all its words in another order"],
  ["I like tea", "I like coffee", false, "one of its words is another one"],
  ["My dog is called Rex", "What is the dog called?\nRex", true, "question and answer together"],
  ["My dog is called Rex", "The dog barks. Rex is a king.", false, "a word is missing"],
  ["My dogs visited three cities", "a dog visiting three cities, or one city", true, "other forms"],
  ["Vegetarian", "She is a vegetarian, she said", true, "a single word as it is"],
  ["Vegetarian", "Vegetarians eat no meat", false, "a single word in another form"],
  ["I was where you were", "where I was", false, "words that say nothing, in part"],
  ["I was where you were", "I was where you were", true, "words that say nothing, as a whole"],
  ["My code is Kx9-77Q", "try kx9-77q", true, "a code alone"],
  ["My code is Kx9-77Q", "try KX977Q", true, "a code without its dash"],
  ["My PIN was 4711", "it begins with 4711", true, "a short number as a word"],
  ["My PIN was 4711", "order 94711853", false, "a short number inside another"],
  ["Call me at +49 170 123-4567", "his number: 0049/1701234567?", true, "another prefix"],
  ["Call me at 0170 123-4567", "his number: 01701234567", true, "digits grouped otherwise"],
  ["I am ada.lovelace@example.org", "mailto:Ada.Lovelace@example.org", true, "an e-mail"],
  ["I live at 12 Elm Street", "the parcel goes to 12, Elm Street", true, "an address"],
  ["Ich wohne in der Gartenstraße 7a", "Gartenstraße 7a, bitte", true, "an address of another country"],
  ["I moved to Ghent in 2019", "the winter of 2019 was mild", false, "a year is no value"],
  ["I moved to Ghent in 2019", "2026-03-01T09:00:00.000Z", false, "an instant"],
  ["Born on 1984-07-12", "the date 1984-07-12", true, "a date"],
  ["Born on 2026-03-01", "at 2026-03-01T09:00:00.000Z", false, "a date that is an instant of ours"],
  ["私はお茶が好きです", "彼は「私はお茶が好きです」と言った", true, "a script without spaces"],
  ["Я живу в Генте", "Он сказал: «я живу в Генте».", true, "another script"],
  ["I like tea", "I like \u00ADt\u00ADea", true, "characters that nobody sees"],
  ["don't call me Al", "Please dont call me Al", true, "an apostrophe"],
  [
    "I drink 3.5 litres with O'Brien",
    "o'brien had a litre, and then drinking 3.5 of them",
    true,
    "marks in words",
  ],
  ["The dog Rex lives in Ghent", "dog_rex/lives-in.ghent.txt", true, "the name of a file"],
  ["Rex's mother isn't in Ghent", "the mother of Rex, who isn’t there: in Ghent", true, "apostrophes"],
  ["I like tea", "", false, "nothing"],
  ["", "anything", false, "no fact"],
  ["!!", "anything!!", false, "a fact without a letter"],
];

describe("a text says a fact", () => {
  it.each(cases)("%j by %j: %s (%s)", (fact, text, isSaid) => {
    expect(saysOf(fact)(text)).toBe(isSaid);
  });

  it("when its words stand close together, not when they are spread over a long text", () => {
    const says = saysOf("My sister plays the oboe");
    const filler = Array.from({ length: 80 }, (_unused, index) => `word${index}`).join(" ");
    expect(says(`my sister is here. she plays an oboe. ${filler}`)).toBe(true);
    expect(says(`my sister is here ${filler} somebody plays ${filler} an oboe`)).toBe(false);
  });

  it.each([
    ["My dog is called Rex", "", "Rex is the dog of the king", true, "two of three words"],
    ["My dog is called Rex", "", "the dog barks", false, "one of three words"],
    ["My dog is called Rex", "rex", "Rex is a king", true, "the words with which it was asked for"],
    ["My dog is called Rex", "1a2b3c4d", "1a2b3c4d", false, "an id with which it was asked for"],
    ["I like tea", "", "I like coffee", false, "one of two words"],
  ])("%j in part, asked for by %j: %j is %s (%s)", (fact, asked, text, isPart) => {
    expect(saysPartOf(fact, asked)(text)).toBe(isPart);
  });

  it("when one of several facts is said", () => {
    const says = saysAny([saysOf("I like tea"), saysOf("I like jazz")]);
    expect([says("jazz is what I like"), says("I like fado")]).toEqual([true, false]);
  });

  it("whatever stands before and behind it", () => {
    const word = fc.stringMatching(/^[a-z]{1,8}$/u);
    fc.assert(
      fc.property(fc.array(word), fc.array(word), (before, behind) => {
        expect(saysOf("I keep bees in Ghent")([...before, "I keep bees in Ghent", ...behind].join(" "))).toBe(
          true,
        );
      }),
    );
  });

  it("never because of a text that has none of its letters", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[b-d ]{0,60}$/u), (text) => {
        expect(saysOf("I live at 12 Elm Street, call 0170 1234567")(text)).toBe(false);
      }),
    );
  });
});
