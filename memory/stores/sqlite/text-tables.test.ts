import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { openDatabase } from "./open-database.ts";
import { toSearchableText } from "../index-fields.ts";
import { STORE_SCHEMA } from "./store-schema.ts";
import { toMatchQuery } from "./text-tables.ts";

const OPERATORS = [
  "AND",
  "OR",
  "NOT",
  "NEAR(",
  ", 5)",
  "(",
  ")",
  "{body}:",
  "body :",
  "- body:",
  "^",
  "*",
  "+",
  '"',
  '""',
  "'",
  ";",
  "--",
  "/*",
  "\\",
  "?1",
];

describe("toMatchQuery", () => {
  it.each([
    ["what was wrong with my laptop?", '"wrong" OR "laptop"'],
    ["to be or not to be", '"to" OR "be" OR "or" OR "not"'],
    ["sister's", '"sister"'],
    ['"Rosa AND (NEAR) col:x^2*', '"col x" OR "rosa" OR "near" OR "col" OR "2"'],
    ["LOT-77-A", '"lot 77 a" OR "lot" OR "77"'],
    ["well\u2011lit", '"well lit" OR "well" OR "lit"'],
    ["北京的大学", '"北  京" OR "大  学"'],
    ["Ａ１ naïve Naïve", '"a1" OR "naïve"'],
  ])("makes of %j the query %s", (text, query) => {
    expect(toMatchQuery(text)).toBe(query);
  });

  it.each(["", " ", "?!", '"', "\u0000", "\ud83d", "🐈", "*^:()-+"])("finds no word in %j", (text) => {
    expect(toMatchQuery(text)).toBeUndefined();
  });

  it("looks up 64 words at most", () => {
    const text = Array.from({ length: 500 }, (_, index) => `word${index}`).join(" ");
    expect(toMatchQuery(text)?.split(" OR ")).toHaveLength(64);
  });
});

describe("text that is searched", () => {
  const db = openDatabase(":memory:", { schema: STORE_SCHEMA });
  const add = db.prepare<[number, string]>("INSERT INTO item_text (rowid, body) VALUES (?, ?)");
  const match = db.prepare<[string], number>("SELECT rowid FROM item_text WHERE item_text MATCH ?").pluck();
  afterAll(() => void db.close());

  // Characters that SQLite's tables are too old to know as letters are not in here: they are no words to it.
  const words = [
    "Rosa",
    "naïve",
    "LOT-77-A",
    "x²",
    "ＡＢ",
    "猫",
    "北京大学",
    "ラーメン",
    "고양이",
    "แมว",
    "हिन्दी",
    "שלום",
  ];
  const noise = ["'", '"', "(", "*", "AND", ":", "^", "\u0000", "\ud83d", "🐈", "-", "\u200c", "\n"];

  it("is found by any of its words, whatever stands around them", () => {
    let id = 0;
    const part = fc.constantFrom(...words, ...noise);
    const property = fc.property(
      fc.array(part),
      fc.constantFrom(...words),
      fc.array(part),
      (before, word, after) => {
        id += 1;
        add.run(id, toSearchableText([...before, word, ...after].join(" ")));
        expect(match.all(toMatchQuery(word) ?? "")).toContain(id);
      },
    );
    fc.assert(property);
  });

  it("is asked for without an error by any text", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string(),
      fc.string({ unit: fc.constantFrom(...noise, "a", "猫") }),
      // Surrogates by the half, which `unit: "binary"` does not give.
      fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
      // What FTS5 reads as operators, columns, prefixes, phrases and groups.
      fc
        .array(fc.oneof(fc.constantFrom(...OPERATORS), fc.constantFrom(...words)))
        .map((parts) => parts.join(" ")),
    );
    const property = fc.property(text, (question) => {
      const query = toMatchQuery(question);
      expect(() => query && match.all(query)).not.toThrow();
    });
    fc.assert(property, { numRuns: 500 });
  });

  it.each(["rosa ", "((", '"', "NEAR(a b, ", "猫", "-", "a\u0000", "\ud83d", "x:", "LOT-77-A."])(
    "is asked for without an error by 100 kB of %j",
    (part) => {
      const query = toMatchQuery(part.repeat(Math.ceil(100_000 / part.length)));
      expect(() => query && match.all(query)).not.toThrow();
    },
  );

  it("says no more to FTS5 than quoted words, whatever is asked", () => {
    const property = fc.property(fc.string({ unit: "binary" }), (question) => {
      const terms = toMatchQuery(`${question} rosa`)?.split(" OR ") ?? [];
      for (const term of terms)
        expect(term).toMatch(
          /^"[\p{L}\p{N}\p{M}\p{Co}\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr} ]+"$/u,
        );
      expect(terms.length).toBeLessThanOrEqual(64);
    });
    fc.assert(property, { numRuns: 300 });
  });
});
