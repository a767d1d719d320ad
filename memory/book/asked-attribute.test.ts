import { describe, expect, it } from "vitest";
import { askedGroupOf, widenedQuestion } from "./asked-attribute.ts";
import { conflictGroupOf } from "./conflict-group.ts";

describe("what a question asks for", () => {
  it.each([
    ["where do I live?", "Ich wohne in Graz"],
    ["Where am I living now?", "I moved to Porto"],
    ["wo wohne ich?", "I live in Lisbon"],
    ["Où est-ce que j'habite ?", "Vivo en Madrid"],
    ["¿Dónde vivo?", "J'habite à Lyon"],
    ["Где я живу?", "我住在北京"],
    ["我住在哪里？", "Я живу в Москве"],
    ["どこに住んでいますか？", "東京に住んでいます"],
    ["Πού μένω;", "Μένω στην Πάτρα"],
    ["what's my name?", "Call me Kim"],
    ["Как меня зовут?", "Меня зовут Пётр"],
    ["我叫什么名字？", "我叫李雷"],
    ["where do I work?", "Ich arbeite bei Siemens"],
    ["how old am I?", "Мне 40 лет"],
    ["where was I born?", "I was born in Porto"],
    ["how many kids do I have?", "I have two kids"],
    ["what is my sister called?", "My sister's name is Ana"],
    ["where does my brother live?", "My brother lives in Leeds"],
    ["Where does Bob live?", "Bob moved to Leeds"],
  ])("%j is the group of %j", (question, statement) => {
    expect(askedGroupOf(question)).toBeDefined();
    expect(askedGroupOf(question)).toBe(conflictGroupOf(statement));
  });

  it.each(["what is my locker code?", "where is my bike?", "who was Napoleon?", "do I live well?"])(
    "is looked for by the words of %j",
    (question) => {
      expect(askedGroupOf(question)).toBeUndefined();
      expect(widenedQuestion(question)).toBe(question);
    },
  );

  it("is looked for in the words of other languages too", () => {
    expect(widenedQuestion("where do I live?")).toMatch(/^where do I live\? .*wohne.*живу/u);
  });
});
