import { describe, expect, it } from "vitest";
import { conflictGroupOf } from "./conflict-group.ts";

describe("a sentence and its denial", () => {
  it.each([
    ["I drink coffee", "I don't drink coffee any more"],
    ["I am afraid of lifts", "I'm not afraid of lifts"],
    ["I'm allergic to nuts", "No, I am not allergic to nuts"],
    ["I have a dog", "I don’t have a dog"],
    ["I have a dog", "I have no dog"],
    ["I have allergies", "I do not have any allergies"],
    ["I own a car", "I no longer own a car"],
    ["I smoke", "I never smoke"],
    ["I can swim", "I can't swim"],
    ["I smoke", "The user does not smoke"],
    ["My sister eats fish", "My sister doesn't eat fish"],
    ["My neighbour watches birds", "My neighbour does not watch birds"],
    ["Always use emojis", "Don't use emojis"],
    ["The printer has paper", "The printer doesn't have paper"],
    ["My sister is a doctor", "My sister is not a doctor"],
  ])("are about the same: %j and %j", (one, other) => {
    expect(conflictGroupOf(one)).not.toBeNull();
    expect(conflictGroupOf(other)).toBe(conflictGroupOf(one));
  });

  it.each([
    ["I drink coffee before work", "I don't drink coffee after work"],
    ["I am afraid of lifts", "My uncle is not afraid of lifts"],
    ["I have a dog", "I don't have a cat"],
    ["I travel to Porto", "I do not travel from Porto"],
    ["I drink coffee", "I don't drink coffee with milk"],
    ["I can swim", "I can ski"],
  ])("are not: %j and %j", (one, other) => {
    expect(conflictGroupOf(one)).not.toBe(conflictGroupOf(other));
  });

  it.each(["I like tea, not coffee. I don't smoke", "Yes", "Bob said: I am late"])(
    "is not looked for in what is no single statement: %j",
    (text) => {
      expect(conflictGroupOf(text) ?? "").not.toMatch(/^denial:/u);
    },
  );
});
