import { InMemoryStore, type BaseStore } from "@langchain/langgraph-checkpoint";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openTestEvidence, sqliteStore } from "./testing/test-evidence.ts";

// Prefixes of each other, separators, wildcards, escapes, one letter in two forms, other scripts.
const NAMES = `user1 user10 User1 user a.b a a:b a/b % user% user_ _ = =2E a=2Eb ~ a~b é e\u0301 我 💜 * default pieces sources evidence`;

const names = fc.uniqueArray(
  fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...NAMES.split(" "), " ", "'; DROP TABLE x; --", "__proto__") },
    { weight: 1, arbitrary: fc.stringMatching(/^[a.:~=%_]{1,4}$/u) },
  ),
  { minLength: 2, maxLength: 6 },
);

/** A store whose prefix match is a bare LIKE, as LangGraph's own on PostgreSQL: `user1` finds `user10` too. */
class LaxStore extends InMemoryStore {
  override async search(...[prefix, options = {}]: Parameters<InMemoryStore["search"]>) {
    const { limit = 10, offset = 0 } = options;
    const all = await super.search(prefix.slice(0, 1), { limit: 100_000 });
    const begin = prefix.join(".");
    const wildcards = new RegExp(
      `^${begin
        .replaceAll(/[\\^$.*+?()[\]{}|]/gu, "\\$&")
        .replaceAll("%", ".*")
        .replaceAll("_", ".")}`,
      "su",
    );
    return all.filter(({ namespace }) => wildcards.test(namespace.join("."))).slice(offset, offset + limit);
  }
}

const stores: readonly (readonly [string, () => BaseStore])[] = [
  ["InMemoryStore", () => new InMemoryStore()],
  ["SqliteStore", sqliteStore],
  ["a store with a lax prefix match", () => new LaxStore()],
];

describe.each(stores)("evidence of owners with any names on %s", (_name, makeStore) => {
  it("is read, found and forgotten by its owner alone", async () => {
    await fc.assert(
      fc.asyncProperty(names, async (owners) => {
        const { book } = openTestEvidence(makeStore());
        for (const [index, owner] of owners.entries())
          await book.ingest({ owner }, { path: "/same/file.txt", bytes: Buffer.from(`walnut ${index}`) });
        for (const [index, owner] of owners.entries()) {
          const found = await book.search({ owner }, "walnut", 10);
          expect(found.map(({ piece }) => piece.text)).toEqual([`walnut ${index}`]);
          expect(await book.sources({ owner })).toHaveLength(1);
        }
        const [victim = "", ...others] = owners;
        const [source] = await book.sources({ owner: victim });
        for (const owner of others) expect(await book.forget({ owner }, source?.id ?? "")).toBe(false);
        expect(await book.forget({ owner: victim }, source?.id ?? "")).toBe(true);
        expect(await book.hasAny({ owner: victim })).toBe(false);
        for (const owner of others) expect(await book.hasAny({ owner })).toBe(true);
      }),
      { numRuns: 12 },
    );
  });
});
