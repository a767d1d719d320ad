import { expect, it } from "vitest";
import { rankFacts } from "./rank-facts.ts";

const fact = (text: string) => ({ id: text, text });
const texts = (facts: readonly { text: string }[]) => facts.map(({ text }) => text);
const BIKE = "My bike is a red Brompton";
const SHOP = "The shop on Quay Street sold me the Brompton";
const BAND = "My band plays on Fridays";

it("leaves the order of what was found alone at the beginning of a conversation", () => {
  const bySaid = [fact(BAND), fact(BIKE)];
  expect(rankFacts({ bySaid, byEarlier: [] }, { said: "my bike", earlier: [] })).toBe(bySaid);
});

it("brings what fits the message before it too in front, of facts that fit equally well", () => {
  const found = { bySaid: [fact("The red shed leaks"), fact("The red bike is old")], byEarlier: [] };
  expect(texts(rankFacts(found, { said: "which red?", earlier: ["my bike has a flat tyre"] }))).toEqual([
    "The red bike is old",
    "The red shed leaks",
  ]);
});

it("adds what only the message before it is about, not what shares a word by the way", () => {
  const long = "My aunt Vera keeps a bike and two goats on her farm near Évora";
  const found = { bySaid: [], byEarlier: [fact(BIKE), fact(long), fact(BAND)] };
  expect(texts(rankFacts(found, { said: "and where from?", earlier: ["my bike squeaks"] }))).toEqual([BIKE]);
});

it("loses nothing that fits the last message, however much fits what was said before", () => {
  const many = Array.from({ length: 20 }, (_, index) => fact(`note ${index} on the garden shed`));
  const ranked = rankFacts(
    { bySaid: [fact(SHOP)], byEarlier: many },
    { said: "which shop?", earlier: ["the garden shed again", "a note on the garden shed"] },
  );
  expect(texts(ranked)).toContain(SHOP);
  expect(ranked).toHaveLength(7);
});

it("keeps what a store found by its meaning", () => {
  const ranked = rankFacts({ bySaid: [fact(BIKE)], byEarlier: [] }, { said: "cycling", earlier: ["hello"] });
  expect(texts(ranked)).toEqual([BIKE]);
});
