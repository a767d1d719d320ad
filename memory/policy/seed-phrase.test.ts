import { expect, it } from "vitest";
import { findSeedPhrases } from "./seed-phrase.ts";

const WORDS = "ocean velvet gravity lunch border cattle spoon erupt museum fatal quantum tribe";

it.each([
  ["twelve words by themselves", WORDS],
  ["behind a word for them", `my ledger has ${WORDS} and no more`.replace(" and no more", "")],
  ["more than twelve behind a word for them", `seed: ${WORDS} again`],
  ["with commas", WORDS.replaceAll(" ", ", ")],
])("finds %s", (_what, text) => {
  expect(findSeedPhrases(text)).toHaveLength(1);
});

it.each([
  ["eleven words", WORDS.split(" ").slice(1).join(" ")],
  ["thirteen words", `${WORDS} again`],
  ["a sentence", "the seed catalogue lists early peas for cold gardens in the north every single spring"],
  ["a list of things", "apples pears plums cherries grapes melons lemons limes figs dates kiwis nuts"],
])("does not find %s", (_what, text) => {
  expect(findSeedPhrases(text)).toEqual([]);
});
