import { expect, it } from "vitest";
import { asksNotToKeep } from "./asks-not-to-keep.ts";

it.each([
  "I have a rash. Don't remember this.",
  "please do not save that",
  "Don’t store any of this",
  "off the record: I may quit",
  "keep my salary out of your memory",
  "Merk dir das nicht",
  "ne retiens pas ça",
  "no lo guardes",
  "не запоминай это",
  "不要记住这个",
])("“%s” asks so", (text) => {
  expect(asksNotToKeep(text)).toBe(true);
});

it.each([
  "I don't remember this place",
  "I do not remember what I said about it",
  "Remember this",
  "don't forget to save the file",
  "Don't save the file before the tests are green",
  "I never keep receipts",
  "You never remember my name. Call me Bob.",
  "the record player is off",
])("“%s” does not", (text) => {
  expect(asksNotToKeep(text)).toBe(false);
});
