import { describe, expect, it } from "vitest";
import { asksSomething, statedIn } from "./question.ts";

describe("a question", () => {
  it.each([
    "What is my locker code?",
    "what is my locker code",
    "Hello there! What is my locker code? Thanks",
    "(My locker code?)",
    "My locker code?…",
    "Remind me of my locker code!?!",
    "“What is my locker code?”",
    "Should I take the violin",
    "when does the train leave",
    "Mikä on isäni nimi?",
    "แมวของฉันชื่ออะไร",
    "我的猫叫什么名字",
    "ποιο είναι το όνομα;",
    "ما اسمي؟",
    "名前は何ですか",
  ])("is heard in %j", (text) => {
    expect(asksSomething(text)).toBe(true);
  });

  it.each([
    "Isäni nimi on Pekka",
    "Doğum günüm 3 Mayıs",
    "Will lives in Oslo.",
    "Do remember that my locker code is 4711.",
    "When I was a child I lived in the city of Lyon.",
    "My locker code is 4711, ok?",
    "Whatever happens, the key is with Ola",
    "",
  ])("is not heard in %j", (text) => {
    expect(asksSomething(text)).toBe(false);
  });
});

describe("what is stated", () => {
  it("leaves the questions out and keeps the rest", () => {
    expect(statedIn("Hello there! What is my locker code? My bike is red.")).toBe(
      "Hello there! My bike is red.",
    );
  });

  it("is nothing in a question alone", () => {
    expect(statedIn("What is my locker code?")).toBe("");
  });
});
