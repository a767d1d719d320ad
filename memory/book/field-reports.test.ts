/** What users of other memory layers have reported of duplicates, contradictions and lost facts, tried here. */
import { describe, expect, it } from "vitest";
import { ADA, openTestBook } from "./testing/test-book.ts";

const noted = { saidBy: "assistant", source: "inference" } as const;

describe("facts that the owner tells one after another", () => {
  it.each<[report: string, url: string, said: string[], left: string[]]>([
    [
      "the same again takes nothing away",
      "https://github.com/mem0ai/mem0/issues/1674",
      ["The dog is a descendant of the wolf", "The dog is a descendant of the wolf"],
      ["The dog is a descendant of the wolf"],
    ],
    [
      "a new favourite takes the place of the old one, also where it is called the current one",
      "https://github.com/mem0ai/mem0/issues/5867",
      ["My favorite football player is Ronaldo.", "My current favorite football player is Messi."],
      ["My current favorite football player is Messi."],
    ],
    [
      "what is liked no more is not liked any more, whatever else the sentence says",
      "https://github.com/mem0ai/mem0/issues/5193",
      ["I like drinking coffee", "I do not like drinking coffee anymore, I like drinking tea now"],
      ["I do not like drinking coffee anymore, I like drinking tea now"],
    ],
    [
      "things that share a word do not retire each other",
      "https://github.com/getzep/graphiti/issues/1728",
      [
        "The app uses Postgres",
        "Postgres uses port 5433",
        "The app is written in Go",
        "Go is fun",
        "My brother uses Postgres",
      ],
      [
        "The app uses Postgres",
        "Postgres uses port 5433",
        "The app is written in Go",
        "Go is fun",
        "My brother uses Postgres",
      ],
    ],
    [
      "a move from one place to another ends the first",
      "https://github.com/getzep/graphiti/issues/1841",
      ["Kiran lives in Whitefield", "Kiran moved from Whitefield to Electronic City"],
      ["Kiran moved from Whitefield to Electronic City"],
    ],
    [
      "preferences for several things of one maker are several",
      "https://github.com/CortexReach/memory-lancedb-pro/issues/228",
      [
        "I like the grilled chicken of McDonald's",
        "I like the McFlurry of McDonald's",
        "I like the wings of McDonald's",
      ],
      [
        "I like the grilled chicken of McDonald's",
        "I like the McFlurry of McDonald's",
        "I like the wings of McDonald's",
      ],
    ],
    [
      "a denial is no duplicate",
      "https://github.com/mnemon-dev/mnemon/issues/133",
      ["Production deployment is allowed", "Production deployment is not allowed"],
      ["Production deployment is not allowed"],
    ],
    [
      "“do not forget” denies nothing",
      "https://github.com/samvallad33/vestige/issues/134",
      [
        "Use the async runtime for the worker pool.",
        "Do not forget to configure the async runtime for the worker pool.",
      ],
      [
        "Use the async runtime for the worker pool.",
        "Do not forget to configure the async runtime for the worker pool.",
      ],
    ],
    [
      "a strong dislike takes the place of a liking",
      "https://github.com/moorcheh-ai/memanto/pull/1820",
      ["I like olives", "I loathe olives", "I love dill", "I can not stand dill"],
      ["I loathe olives", "I can not stand dill"],
    ],
    [
      "a dislike is kept as it was said",
      "https://github.com/odysseus-dev/odysseus/pull/3168",
      ["I hate cilantro in my food"],
      ["I hate cilantro in my food"],
    ],
  ])("%s (%s)", async (_report, _url, said, left) => {
    const { say, texts } = openTestBook();
    for (const text of said) await say(text);
    expect((await texts()).toSorted()).toEqual(left.toSorted());
  });

  it("is about the person where it says what they do not like (https://github.com/moorcheh-ai/memanto/pull/1557)", async () => {
    const { say } = openTestBook();
    for (const text of ["I don't like Python", "I do not like dark mode", "I no longer like Vim"])
      expect(await say(text)).toMatchObject({ record: { domain: "user_profile" } });
  });
});

describe("what a model notes", () => {
  it("of a person who was asked about gives the owner no other name (https://github.com/getnao/nao/issues/1018)", async () => {
    const { say, texts, book } = openTestBook();
    await say("My name is Ana");
    expect(await say("The user's name is Christophe", noted)).toMatchObject({
      superseded: [],
      conflicts: [{}],
    });
    expect(await texts()).toContain("My name is Ana");
    expect(await book.conflicts(ADA)).toHaveLength(1);
  });

  it("is known in whatever words, and its denial is not (https://github.com/nhadaututtheky/neural-memory/issues/14)", async () => {
    const { say } = openTestBook();
    await say("I work at Acme");
    expect(await say("The user works for Acme", noted)).toMatchObject({ kind: "known" });
    expect(await say("User works at Acme.", noted)).toMatchObject({ kind: "known" });
    expect(await say("The user no longer works at Acme", noted)).toMatchObject({
      kind: "stored",
      conflicts: [{}],
    });
    expect(await say("The user works at Acme Labs", noted)).toMatchObject({ kind: "stored" });
  });
});
