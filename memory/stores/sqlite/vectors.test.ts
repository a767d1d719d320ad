import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Database } from "better-sqlite3";
import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createFakeEmbedder, type FakeEmbedder } from "#memory/embedding/testing/fake-embedder.ts";
import { createManualClock } from "#src/kernel/clock.ts";
import type { StoreIndex } from "../index-fields.ts";
import { keysOf } from "../testing/store-contract.ts";
import { openDatabase } from "./open-database.ts";
import { SqliteStore } from "./sqlite-store.ts";
import { temporaryFolder } from "./testing/temporary-folder.ts";

interface Opened {
  readonly store: SqliteStore;
  readonly db: Database;
  readonly embedder: FakeEmbedder;
  readonly clock: ReturnType<typeof createManualClock>;
}

interface OpenOptions {
  readonly file?: string;
  readonly embedder?: FakeEmbedder;
  readonly index?: StoreIndex;
}

function open({ file = ":memory:", embedder = createFakeEmbedder(), index = {} }: OpenOptions = {}): Opened {
  const db = openDatabase(file);
  onTestFinished(() => void db.close());
  const clock = createManualClock(1_700_000_000_000);
  return { db, embedder, clock, store: new SqliteStore(db, { clock, index: { embed: embedder, ...index } }) };
}

const newFile = (): string => join(temporaryFolder(), "store.sqlite");
const vectorsIn = (db: Database): number =>
  db.prepare<[], number>("SELECT count(vector) FROM vectors").pluck().get() ?? -1;
const down = new Error("connection refused");

describe("making vectors", () => {
  it("stores an item at once and asks the embedder only when vectors are filled", async () => {
    const { store, embedder, db } = open();
    await store.put(["n"], "k", { text: "my automobile is blue" });
    expect(embedder.calls).toEqual([]);
    expect(keysOf(await store.search(["n"], { query: "blue" }))).toEqual(["k"]);
    expect(await store.fillVectors(10)).toBe(false);
    expect(embedder.calls).toEqual([["my automobile is blue"]]);
    expect(vectorsIn(db)).toBe(1);
    expect(await store.fillVectors(10)).toBe(false);
    expect(embedder.calls).toHaveLength(1);
  });

  it("goes through as many items as it is told, and says how many are left", async () => {
    const { store } = open();
    for (let n = 0; n < 50; n += 1) await store.put(["n"], `k${n}`, { text: `text ${n}` });
    expect(await store.fillVectors(40)).toBe(true);
    expect(await store.fillVectors(40)).toBe(false);
  });

  it("embeds the configured fields, by namespace, and gives what has no text none", async () => {
    const fields = ([root]: readonly string[]) => (root === "blobs" ? false : ["title"]);
    const isEmbedded = ([root]: readonly string[]) => root !== "private";
    const { store, embedder, db } = open({ index: { fields, isEmbedded } });
    await store.put(["private"], "z", { title: "not for the embedder" });
    await store.put(["blobs"], "a", { title: "bytes" });
    await store.put(["docs"], "b", { title: "  a title ", body: "not this" });
    await store.put(["docs"], "c", { body: "no title" });
    expect(await store.fillVectors(10)).toBe(false);
    expect(embedder.calls).toEqual([["a title"]]);
    expect(vectorsIn(db)).toBe(1);
  });

  it("finds what a crash between a put and the filling left without a vector", async () => {
    const file = newFile();
    const before = open({ file });
    await before.store.put(["n"], "k", { text: "a hound" });
    before.db.close();
    const { store } = open({ file });
    expect(await store.fillVectors(10)).toBe(false);
    expect(keysOf(await store.search(["n"], { query: "puppy" }))).toEqual(["k"]);
  });

  it("finds what was written without an embedder, before and after", async () => {
    const file = newFile();
    const db = openDatabase(file);
    onTestFinished(() => void db.close());
    const plain = new SqliteStore(db, { clock: createManualClock(0) });
    await plain.put(["n"], "k", { text: "a hound" });
    expect(await plain.fillVectors(10)).toBe(false);
    const { store } = open({ file });
    await store.fillVectors(10);
    await plain.put(["n"], "k", { text: "a car" });
    expect(vectorsIn(db)).toBe(0);
    expect(keysOf(await store.search(["n"], { query: "puppy" }))).toEqual([]);
    await store.fillVectors(10);
    await plain.put(["n"], "k", { text: "a car" });
    expect(keysOf(await store.search(["n"], { query: "automobile" }))).toEqual(["k"]);
  });

  it("leaves an item alone that is changed or deleted while the embedder works", async () => {
    const { store, embedder, db } = open();
    await store.put(["n"], "changed", { text: "a hound" });
    await store.put(["n"], "deleted", { text: "a car" });
    const embed = embedder.embed.bind(embedder);
    vi.spyOn(embedder, "embed").mockImplementationOnce(async (texts) => {
      await store.put(["n"], "changed", { text: "a tree" });
      await store.delete(["n"], "deleted");
      await store.put(["n"], "another", { text: "takes the free number" });
      return embed(texts);
    });
    await store.fillVectors(2);
    expect(vectorsIn(db)).toBe(0);
    expect(await store.fillVectors(10)).toBe(false);
  });

  it("keeps the vector of a text that stays the same while the rest of the value changes", async () => {
    const { store, embedder } = open({ index: { fields: ["text"] } });
    await store.put(["n"], "k", { text: "a hound", seen: 1 });
    await store.fillVectors(10);
    await store.put(["n"], "k", { text: "a hound", seen: 2 });
    expect(await store.fillVectors(10)).toBe(false);
    await store.put(["n"], "k", { text: "a cat", seen: 2 });
    expect(keysOf(await store.search(["n"], { query: "puppy" }))).toEqual([]);
    expect(await store.fillVectors(10)).toBe(false);
    expect(embedder.calls.filter((texts) => texts.includes("a hound"))).toHaveLength(1);
  });
});

describe("an embedder that fails", () => {
  it("loses no write, no hit by words, and no vector that was made", async () => {
    const { store, embedder } = open();
    await store.put(["n"], "old", { text: "an old hound" });
    await store.fillVectors(10);
    embedder.fails = down;
    await store.put(["n"], "new", { text: "a new hound" });
    await expect(store.fillVectors(10)).rejects.toMatchObject({ code: "embedding_failed" });
    expect(keysOf(await store.search(["n"], { query: "hound" }))).toEqual(["old", "new"]);
    embedder.fails = undefined;
    expect(await store.fillVectors(10)).toBe(false);
  });

  it("is not asked again by each search, until it has rested", async () => {
    const { store, embedder, clock } = open();
    await store.put(["n"], "k", { text: "a hound" });
    await store.fillVectors(10);
    embedder.fails = down;
    for (const query of ["puppy", "dog", "hound"]) await store.search(["n"], { query });
    expect(embedder.calls).toHaveLength(2);
    embedder.fails = undefined;
    clock.advance(30_000);
    expect(keysOf(await store.search(["n"], { query: "puppy" }))).toEqual(["k"]);
  });

  it("is not waited for beyond the deadline", async () => {
    const { store, embedder } = open();
    await store.put(["n"], "k", { text: "a hound" });
    await store.fillVectors(10);
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    vi.spyOn(embedder, "embed").mockImplementation(() => new Promise(() => undefined));
    const found = store.search(["n"], { query: "hound" });
    await vi.advanceTimersByTimeAsync(3_000);
    expect(keysOf(await found)).toEqual(["k"]);
  });

  it("does not keep the others from their vectors when it refuses one text", async () => {
    const { store, embedder } = open();
    for (const text of ["a hound", "poison", "a car"]) await store.put(["n"], text, { text });
    const embed = embedder.embed.bind(embedder);
    vi.spyOn(embedder, "embed").mockImplementation((texts) =>
      texts.includes("poison") ? Promise.reject(new Error("400")) : embed(texts),
    );
    expect(await store.fillVectors(10)).toBe(false);
    expect(keysOf(await store.search(["n"], { query: "puppy" }))).toEqual(["a hound"]);
    expect(keysOf(await store.search(["n"], { query: "poison" }))).toContain("poison");
  });

  it.each([
    ["too few", []],
    ["no numbers", [[Number.NaN, 1]]],
    ["nothing but zeros", [[0, 0]]],
  ])("is taken at its word by nobody when it gives %s", async (_what, vectors) => {
    const { store, embedder, db } = open();
    await store.put(["n"], "k", { text: "a hound" });
    vi.spyOn(embedder, "embed").mockResolvedValue(vectors);
    await expect(store.fillVectors(10)).rejects.toMatchObject({ code: "embedding_failed" });
    expect(vectorsIn(db)).toBe(0);
  });

  it("is not asked for a question in a batch that also writes", async () => {
    const { store, embedder } = open();
    await store.put(["n"], "k", { text: "a hound" });
    await store.fillVectors(10);
    const [found] = await store.batch([
      { namespacePrefix: ["n"], query: "hound" },
      { namespace: ["n"], key: "other", value: { text: "b" } },
    ]);
    expect(found).toMatchObject([{ key: "k" }]);
    expect(embedder.calls).toHaveLength(1);
  });
});

describe("another embedder", () => {
  it("compares no question with vectors of another model, and replaces them as they are filled", async () => {
    const file = newFile();
    const one = open({ file, embedder: createFakeEmbedder({ model: "fake:one" }) });
    await one.store.put(["n"], "a", { text: "a hound" });
    await one.store.put(["n"], "b", { text: "a car" });
    await one.store.fillVectors(10);
    const two = open({ file, embedder: createFakeEmbedder({ model: "fake:two", dimensions: 24 }) });
    expect(keysOf(await two.store.search(["n"], { query: "hound" }))).toEqual(["a"]);
    expect(await two.store.fillVectors(1)).toBe(true);
    expect(keysOf(await two.store.search(["n"], { query: "puppy" }))).toEqual(["a"]);
    expect(await two.store.fillVectors(10)).toBe(false);
    expect(vectorsIn(two.db)).toBe(2);
  });

  it("is noticed behind the same name by the length of its vectors", async () => {
    const file = newFile();
    const one = open({ file });
    await one.store.put(["n"], "a", { text: "a hound" });
    await one.store.fillVectors(10);
    const two = open({ file, embedder: createFakeEmbedder({ dimensions: 24 }) });
    expect(keysOf(await two.store.search(["n"], { query: "hound" }))).toEqual(["a"]);
    expect(await two.store.fillVectors(10)).toBe(false);
    expect(keysOf(await two.store.search(["n"], { query: "puppy" }))).toEqual(["a"]);
  });
});

describe("what is deleted", () => {
  it("leaves no byte of its vector, in the file or beside it, and neither does a text that is replaced", async () => {
    const file = newFile();
    const { store, db } = open({ file });
    for (let n = 0; n < 60; n += 1)
      await store.put(["n"], `filler${n}`, { text: `common words number ${n}` });
    await store.put(["n"], "deleted", { text: "zebrafinch in the attic" });
    await store.put(["n"], "replaced", { text: "quokka on the lawn" });
    await store.fillVectors(100);
    const traces = vectorsOf(db, ["deleted", "replaced"]);
    expect(traces).toHaveLength(2);
    await store.delete(["n"], "deleted");
    await store.put(["n"], "replaced", { text: "wombat" });
    db.pragma("wal_checkpoint(TRUNCATE)");
    const bytes = Buffer.concat(
      readdirSync(join(file, "..")).map((name) => readFileSync(join(file, "..", name))),
    );
    for (const trace of traces) expect(bytes.includes(trace)).toBe(false);
    for (const kept of vectorsOf(db, ["filler7"])) expect(bytes.includes(kept)).toBe(true);
  });

  it("takes its vector along whoever deletes it", async () => {
    const { store, db } = open();
    await store.put(["n"], "k", { text: "a hound" });
    await store.fillVectors(10);
    db.exec("DELETE FROM items");
    expect(vectorsIn(db)).toBe(0);
  });
});

/** The bytes of the vectors of items. */
function vectorsOf(db: Database, keys: readonly string[]): Buffer[] {
  const read = db
    .prepare<[string], Buffer>(
      "SELECT vector FROM items JOIN vectors v ON v.item_id = items.id WHERE key = ?",
    )
    .pluck();
  return keys.flatMap((key) => read.all(key));
}

describe("search by meaning", () => {
  it("finds other words of the same meaning, and puts what has word and meaning first", async () => {
    const { store } = open();
    await store.put(["n"], "meaning", { text: "the automobile" });
    await store.put(["n"], "both", { text: "the car" });
    await store.put(["n"], "neither", { text: "tulips" });
    await store.fillVectors(10);
    const items = await store.search(["n"], { query: "car" });
    expect(keysOf(items).slice(0, 2)).toEqual(["both", "meaning"]);
    expect(items[0]?.score).toBeGreaterThan(1);
    expect(items[0]?.score).toBeLessThanOrEqual(2);
    expect(items[1]?.score).toBeLessThan(1);
  });

  it("keeps the namespace, the filter and the page", async () => {
    const { store } = open();
    for (const n of [1, 2, 3])
      await store.put(["user1", "a"], `k${n}`, { text: `hound number ${n}`, odd: n % 2 === 1 });
    await store.put(["user10", "a"], "foreign", { text: "hound number 1", odd: true });
    await store.put(["user"], "parent", { text: "hound number 1", odd: true });
    await store.fillVectors(10);
    const all = keysOf(await store.search(["user1"], { query: "puppy number 1" }));
    expect(all.toSorted()).toEqual(["k1", "k2", "k3"]);
    expect(all[0]).toBe("k1");
    const filter = { odd: { $ne: false } };
    expect(keysOf(await store.search(["user1"], { query: "puppy number 1", filter }))).toEqual(["k1", "k3"]);
    const pages = [0, 1, 2].map((offset) =>
      store.search(["user1"], { query: "puppy number 1", limit: 1, offset }),
    );
    expect((await Promise.all(pages)).flatMap(keysOf)).toEqual(all);
    expect((await store.search([], { query: "puppy" })).length).toBe(5);
  });

  it("finds nothing by a question without words", async () => {
    const { store } = open();
    await store.put(["n"], "k", { text: "a hound" });
    await store.fillVectors(10);
    for (const query of ["", "?!", "\u0000", "\ud83d"])
      expect(await store.search(["n"], { query })).toEqual([]);
  });

  it("gives every hit by words, whatever the vectors are, and never another namespace's item", async () => {
    const word = fc.constantFrom("hound", "car", "tulip", "shed", "doctor");
    const item = fc.record({
      owner: fc.constantFrom("u", "u1", "u10", "u1-x", "U1"),
      words: fc.array(word, { minLength: 1, maxLength: 4 }),
      isFilled: fc.boolean(),
    });
    const property = fc.asyncProperty(fc.array(item, { maxLength: 12 }), word, async (items, query) => {
      const db = openDatabase(":memory:");
      const clock = createManualClock(0);
      const store = new SqliteStore(db, { clock, index: { embed: createFakeEmbedder() } });
      const plain = new SqliteStore(db, { clock });
      for (const [n, { owner, words, isFilled }] of items.entries()) {
        await store.put([owner], `k${n}`, { text: words.join(" ") });
        if (isFilled) await store.fillVectors(100);
      }
      const found = await store.search(["u1"], { query, limit: 100 });
      const byWords = keysOf(await plain.search(["u1"], { query, limit: 100 }));
      expect(keysOf(found)).toEqual(expect.arrayContaining(byWords));
      for (const { namespace } of found) expect(namespace).toEqual(["u1"]);
      db.close();
    });
    await fc.assert(property, { numRuns: 20 });
  });
});
