import { expect, it } from "vitest";
import { rankFacts } from "./rank-facts.ts";

const fact = (text: string) => ({ id: text, text });
const texts = (facts: readonly { text: string }[]) => facts.map(({ text }) => text);
const BIKE = "My bike is a red Brompton";
const SHOP = "The shop on Quay Street sold me the Brompton";
const BAND = "My band plays on Fridays";

it("gives what fits the message best first, and leaves out what shares too little of it", () => {
  const long = `${BIKE}, of which the front wheel, the saddle and the lamp are new, and the rest is from a band of friends`;
  const bySaid = [fact(BAND), fact(long), fact(BIKE)];
  const talk = { said: "is my Brompton bike red?", earlier: [] };
  expect(texts(rankFacts({ bySaid, byEarlier: [] }, talk))).toEqual([BIKE, long, BAND]);
  const words = [
    fact(BIKE),
    fact("The garden has a bike"),
    ...Array.from({ length: 9 }, (_, n) => fact(`bike ${n}`)),
  ];
  expect(texts(rankFacts({ bySaid: words, byEarlier: [] }, talk))).toEqual([BIKE]);
});

it("brings what fits the message before it too in front, of facts that fit equally well", () => {
  const found = { bySaid: [fact("The red shed leaks"), fact("The red bike is old")], byEarlier: [] };
  expect(texts(rankFacts(found, { said: "which red?", earlier: ["my bike has a flat tyre"] }))).toEqual([
    "The red bike is old",
    "The red shed leaks",
  ]);
});

it("adds what only the message before it is about", () => {
  const found = { bySaid: [], byEarlier: [fact(BIKE), fact(BAND)] };
  expect(texts(rankFacts(found, { said: "and where from?", earlier: ["my bike squeaks"] }))).toEqual([BIKE]);
});

it("keeps what fits the last message before what fits those before it", () => {
  const many = Array.from({ length: 20 }, (_, index) => fact(`note ${index} on the garden shed`));
  const ranked = rankFacts(
    { bySaid: [fact(SHOP)], byEarlier: many },
    { said: "which shop?", earlier: ["the garden shed again", "a note on the garden shed"] },
  );
  expect(texts(ranked)[0]).toBe(SHOP);
});

it("keeps what a store found by its meaning", () => {
  const ranked = rankFacts({ bySaid: [fact(BIKE)], byEarlier: [] }, { said: "cycling", earlier: ["hello"] });
  expect(texts(ranked)).toEqual([BIKE]);
});
