import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { openDatabase } from "./open-database.ts";
import { toSearchableText } from "./searchable-text.ts";
import { STORE_SCHEMA } from "./store-schema.ts";
import { toMatchQuery } from "./text-query.ts";

describe("toMatchQuery", () => {
  it.each([
    ["what was wrong with my laptop?", '"wrong" OR "laptop"'],
    ["to be or not to be", '"to" OR "be" OR "or" OR "not"'],
    ["sister's", '"sister"'],
    ['"Rosa AND (NEAR) col:x^2*', '"rosa" OR "near" OR "col" OR "2"'],
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

  it("is found by itself, and no question breaks the query", () => {
    let id = 0;
    const anyText = fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 60 }),
      fc.string({ unit: "binary", maxLength: 60 }),
      fc.string({ maxLength: 60 }),
    );
    fc.assert(
      fc.property(anyText, (text) => {
        id += 1;
        add.run(id, toSearchableText(text));
        const query = toMatchQuery(text);
        if (query !== undefined) expect(match.all(query)).toContain(id);
      }),
      { numRuns: 1000 },
    );
  });
});
