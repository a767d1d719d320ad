import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { classifyTopic, createLexicalTopics } from "./lexical-topics.ts";

const THRESHOLD = 0.8;
const TAXES = ["When is my income tax return due?", "Which receipts can I deduct from the income?"];

const ends = (recent: readonly string[], message: string): boolean => {
  const evidence = classifyTopic({ recent, message });
  return evidence.kind === "shift" && evidence.confidence >= THRESHOLD;
};

describe("the built-in topic classifier", () => {
  it.each<[string, readonly string[], string]>([
    ["an announcement", TAXES, "New topic: bicycles"],
    ["an announcement in other words", TAXES, "Let's talk about something completely different."],
    [
      "an announcement in German",
      ["Wann ist die Steuererklärung fällig?"],
      "Themenwechsel: ich plane Urlaub",
    ],
    ["an announcement in French", ["Quand dois-je payer les impôts ?"], "Changeons de sujet : le jardin"],
    ["an announcement in Japanese", ["確定申告の締め切りはいつですか"], "話は変わりますが、自転車を買いたい"],
    ["a fresh question", TAXES, "What temperature do you bake sourdough bread at, and for how many minutes?"],
    ["a fresh question of another kind", TAXES, "Who won the football championship in Brazil last summer?"],
    ["an aside about something else", TAXES, "By the way, my landlord wants to raise the rent"],
    [
      "a request in Russian",
      ["Как получить налоговый вычет за лечение?"],
      "Мой кот перестал есть сухой корм, что делать?",
    ],
  ])("ends a session by %s", (_what, recent, message) => {
    expect(ends(recent, message)).toBe(true);
  });

  it.each<[string, readonly string[], string]>([
    ["a follow-up that shares words", TAXES, "Can I deduct receipts for books too?"],
    ["a short answer", TAXES, "Yes, please."],
    ["thanks", TAXES, "Thank you, that helps a lot!"],
    ["a pronoun", TAXES, "Can you explain it with an example?"],
    ["one word", TAXES, "Why?"],
    ["a number", TAXES, "42000"],
    ["a return to the topic in other words", TAXES, "Back to the other topic: the income tax"],
    ["a plural of a word that was said", TAXES, "How do taxes on returns work?"],
    ["the same in German", ["Wie hoch ist die Steuer auf Aktien?"], "Und auf Zinsen?"],
    ["the same in Japanese", ["東京の天気はどうですか"], "大阪の天気は？"],
    [
      "a side of the same trip",
      ["We are planning a trip to Lisbon in May", "Which hotel is best?"],
      "Do we need a car?",
    ],
    ["a short question in other words", TAXES, "What should we pack?"],
    [
      "a short question in German",
      ["Ich suche ein Rezept für Apfelkuchen", "Mit Streuseln?"],
      "Wie lange muss der Kuchen in den Ofen?",
    ],
    [
      "a long message that names the topic",
      TAXES,
      "Which income do freelance photographers in Spain declare abroad?",
    ],
    ["a greeting before any topic", ["hi"], "help me choose a bike"],
  ])("goes on with %s", (_what, recent, message) => {
    expect(ends(recent, message)).toBe(false);
  });

  it.each<[string, readonly string[], string]>([
    ["nothing was said before", [], "What is the capital of France?"],
    ["the message has no word of its own", TAXES, "ok"],
    ["the message is empty", TAXES, ""],
    ["only small talk was said before", ["hi", "how are you"], "What is the capital of France?"],
  ])("knows nothing when %s", (_what, recent, message) => {
    expect(classifyTopic({ recent, message })).toMatchObject({ kind: "unknown" });
  });

  it("takes a return that names the topic for strong evidence of it", () => {
    const evidence = classifyTopic({ recent: TAXES, message: "Back to the tax return: when is it due?" });
    expect(evidence).toEqual({ kind: "same", confidence: 0.9 });
  });

  it("says the same each time", async () => {
    const topics = createLexicalTopics();
    const question = { recent: TAXES, message: "What temperature do you bake bread at?" };
    expect(await topics.classify(question)).toEqual(await topics.classify(question));
  });

  it("gives evidence of the right form for any text, also a long or broken one", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 60 }),
      fc.constantFrom("\uD800", "😀".repeat(20_000), "a".repeat(32_000), "税".repeat(32_000), "\0"),
    );
    fc.assert(
      fc.property(fc.array(text, { maxLength: 7 }), text, (recent, message) => {
        const evidence = classifyTopic({ recent, message });
        if (evidence.kind === "unknown") {
          expect(evidence.why).not.toBe("");
          return;
        }
        expect(evidence.confidence).toBeGreaterThanOrEqual(0.5);
        expect(evidence.confidence).toBeLessThanOrEqual(1);
      }),
      { numRuns: 60 },
    );
  });
});
