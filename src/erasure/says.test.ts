import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { saysOf, saysPartOf } from "./says.ts";

type Case = readonly [fact: string, text: string, what: "said" | "in part" | "not said", why: string];

const cases: readonly Case[] = [
  ["I like tea", "Well, I like tea.", "said", "the whole fact"],
  ["I like tea", "i  LIKE\ntea!!", "said", "case, spacing and punctuation"],
  ["I like tea", "Ｉ ｌｉｋｅ ｔｅａ", "said", "width"],
  ["I like tea", "I like \u00ADt\u00ADea", "said", "characters that nobody sees"],
  ["I like tea", "You said that tea is what you like most", "said", "all its words in another order"],
  ["I like tea", "I like coffee", "not said", "one of its words is another one"],
  ["My dog is called Rex", "What is the dog called?\nRex", "said", "question and answer together"],
  ["My dog is called Rex", "Rex is the dog of the king", "in part", "two of three words"],
  ["My dog is called Rex", "The dog barks.", "not said", "one of three words"],
  ["Vegetarian", "She is a vegetarian, she said", "said", "a single word as it is"],
  ["I was where you were", "where I was", "not said", "words that say nothing, in part"],
  ["I was where you were", "I was where you were", "said", "words that say nothing, as a whole"],
  ["don't call me Al", "Please dont call me Al", "said", "an apostrophe"],
  ["The dog Rex lives in Ghent", "dog_rex/lives-in.ghent.txt", "said", "the name of a file"],
  ["Rex's mother isn't in Ghent", "the mother of Rex, who isn’t there: in Ghent", "said", "apostrophes"],
  ["I am ada.lovelace@example.org", "mailto:Ada.Lovelace@example.org", "said", "an e-mail"],
  [
    "I live at 12 Elm Street",
    "the parcel goes to 12, Elm Street",
    "in part",
    "an address, of which a word is missing",
  ],
  ["12 Elm Street", "the parcel goes to 12, Elm Street", "said", "an address as a whole"],
  ["0170 123-4567", "his number: (0170)1234567?", "said", "a number alone, grouped otherwise"],
  ["1701234567", "order 917012345678", "not said", "a number inside another"],
  ["Call me at +49 170 123-4567", "his: 0049/1701234567", "in part", "a number of a fact"],
  ["My PIN was 4711", "it begins with 4711", "in part", "a short number of a fact"],
  ["My PIN was 4711", "order 94711853", "not said", "a short number inside another"],
  ["My code is Kx9-77Q", "try KX977Q", "in part", "a code of a fact"],
  ["I moved to Ghent in 2019", "the winter of 2019 was mild", "not said", "a year"],
  ["I like tea", "", "not said", "nothing"],
  ["", "anything", "not said", "no fact"],
  ["!!", "anything!!", "not said", "a fact without a letter"],
];

/** borders of words are those of the script; a word in another form is told of. */
const borders: readonly Case[] = [
  ["Quimbleton", "Quimbleton's address is known", "said", "possessive"],
  ["Quimbleton", "by Quimbleton’s gate", "said", "typographic possessive"],
  ["Quimbleton", "I met Quimbleton🎉 today", "said", "an emoji next to it"],
  ["Quimbleton", "❤️Quimbleton", "said", "an emoji with a variation selector"],
  ["Quimbleton", "我认识Quimbleton先生", "said", "within Chinese"],
  ["Quimbleton", "クインブルトンQuimbletonさん", "said", "within Japanese"],
  ["Quimbleton", "Quimbleton은 친구", "said", "before a Korean particle"],
  ["Quimbleton", "نعرف Quimbleton، جيدا", "said", "within Arabic"],
  ["Quimbleton", "<b>Quimbleton</b>", "said", "markup"],
  ["Quimbleton", "the Quimbletons", "in part", "plural"],
  ["Quimbleton", "Quimbletonstraße 3", "in part", "a compound"],
  ["Andrea", "la casa dell'Andrea", "said", "an article with an apostrophe"],
  ["Aquila", "l’Aquila è bella", "said", "a French or Italian article"],
  ["王芳", "我叫王芳。", "said", "two characters, at the end"],
  ["王芳", "昨天王芳来了", "said", "two characters, in the middle"],
  ["北京", "我住在北京市", "said", "a place in Chinese"],
  ["서울", "서울에서 만나요", "said", "a place before a particle"],
  ["서울", "남서울 호텔", "in part", "a place within another"],
  ["東京", "東京へ行きます", "said", "a place in Japanese"],
  ["さくら", "わたしはさくらです", "said", "hiragana"],
  ["ジョン", "ジョンさん", "said", "katakana before hiragana"],
  ["ジョン", "ジョンソンさん", "in part", "katakana within a longer name"],
  ["สมชาย", "คุณสมชายมาแล้ว", "said", "Thai"],
  ["राम", "यह राम है", "said", "Devanagari"],
  ["राम", "रामायण", "in part", "Devanagari within another word"],
  ["Иван", "Это Иван.", "said", "Cyrillic"],
  ["Иван", "книга Ивана", "in part", "Cyrillic, inflected"],
  ["Γιώργος", "ο ΓΙΏΡΓΟΣ ήρθε", "said", "Greek, in capitals"],
  ["דוד", "אני דוד.", "said", "Hebrew"],
  ["cafe\u0301", "the café there", "said", "composed and not"],
  ["cafe", "the café there", "in part", "a letter with an accent is another one"],
  ["Quimbleton lives in Ghent", "Quimbleton is living in Ghent", "in part", "lives and living"],
  ["My dogs visited three cities", "a dog visiting three cities, or one city", "said", "forms of one stem"],
  ["I like tea", "I like teasing people", "in part", "a word that begins alike"],
  ["Ana sings", "Anastasia sings", "in part", "a name that begins alike"],
];

/** what two facts share beside dates, amounts and times makes them one, or nothing does. */
const numbers: readonly Case[] = [
  ["dentist appointment on 2026-12-01", "rent is due on 2026-12-01", "not said", "a date"],
  ["dentist at 14:30", "the train leaves at 14:30", "not said", "a time"],
  ["the bike cost 1250 EUR", "the rent is 1.250,00 €", "not said", "an amount"],
  [
    "dentist on 1 December 2026",
    "rent on 1 December 2026",
    "not said",
    "a date in words shares its month alone",
  ],
  ["dentist 01.12.2026 14.30", "rent 01.12.2026", "not said", "a date with dots"],
  ["歯医者 2026年12月1日", "家賃 2026年12月1日", "not said", "a date in Japanese"],
  ["2026-12-01", "rent is due on 2026-12-01", "said", "a date that is asked for by itself"],
  ["14:30", "the train leaves at 14:30", "said", "a time that is asked for by itself"],
  ["dentist in Porto on 2026-12-01", "rent in Porto on 2026-12-01", "not said", "a date and a place"],
  ["dentist on 2026-12-01", "2026-12-01: the dentist called", "said", "a date and the word"],
];

function whatIs(fact: string, text: string): Case[2] {
  if (saysOf(fact)(text)) return "said";
  return saysPartOf(fact)(text) ? "in part" : "not said";
}

describe.each([
  ["a fact", cases],
  ["R-2: borders of words", borders],
  ["R-3: dates, amounts and times", numbers],
] as const)("%s", (_name, table) => {
  it.each(table)("%j by %j: %s (%s)", (fact, text, what) => {
    expect(whatIs(fact, text)).toBe(what);
  });
});

describe("a text says a fact", () => {
  it("when its words stand close together, not when they are spread over a long text", () => {
    const says = saysOf("My sister plays the oboe");
    const filler = Array.from({ length: 80 }, (_unused, index) => `word${index}`).join(" ");
    expect(says(`my sister is here. she plays an oboe. ${filler}`)).toBe(true);
    expect(says(`my sister is here ${filler} somebody plays ${filler} an oboe`)).toBe(false);
  });

  it.each([
    ["rex", "Rex is a king", true, "the words with which it was asked for"],
    ["1a2b3c4d", "1a2b3c4d", false, "an id with which it was asked for"],
  ])("in part, asked for by %j: %j is %s (%s)", (asked, text, isPart) => {
    expect(saysPartOf("My dog is called Rex", asked)(text)).toBe(isPart);
  });

  it("whatever stands before and behind it", () => {
    const around = fc.array(fc.stringMatching(/^[a-z]{1,8}$/u));
    fc.assert(
      fc.property(around, around, (before, behind) => {
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
