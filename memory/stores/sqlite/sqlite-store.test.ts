import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Database } from "better-sqlite3";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createFakeEmbedder } from "#memory/embedding/testing/fake-embedder.ts";
import { createManualClock } from "#src/kernel/clock.ts";
import { LilyError } from "#src/kernel/errors.ts";
import type { DurableStoreOptions } from "../durable-store.ts";
import { describeStoreContract, keysOf } from "../testing/store-contract.ts";
import { openDatabase } from "./open-database.ts";
import { SqliteStore } from "./sqlite-store.ts";
import { STORE_SCHEMA } from "./store-schema.ts";
import { temporaryFolder } from "./testing/temporary-folder.ts";

const START_MS = 1_700_000_000_000;

function makeStore() {
  const clock = createManualClock(START_MS);
  const db = openDatabase(":memory:");
  return {
    store: new SqliteStore(db, { clock }),
    tick: () => clock.advance(1),
    close: () => void db.close(),
  };
}

describeStoreContract("SqliteStore", makeStore);

/** Opens the store in `file`; closed when the test is over, if not before. */
function openStore(
  file: string,
  options: Partial<DurableStoreOptions> = {},
): { store: SqliteStore; db: Database } {
  const db = openDatabase(file);
  onTestFinished(() => void db.close());
  return { db, store: new SqliteStore(db, { clock: createManualClock(START_MS), ...options }) };
}

const newFile = (): string => join(temporaryFolder(), "store.sqlite");

describe("SqliteStore on a file", () => {
  it("gives back after a restart what was stored before, in the same order and with its words", async () => {
    const file = newFile();
    const before = openStore(file);
    await before.store.put(["n", "b"], "2", { text: "walnut\u0000tree" });
    await before.store.put(["n", "a"], "1", { text: "oak" });
    before.db.close();
    const { store } = openStore(file);
    const items = await store.search(["n"]);
    expect(keysOf(items)).toEqual(["2", "1"]);
    expect(items[0]).toMatchObject({ value: { text: "walnut\u0000tree" }, createdAt: new Date(START_MS) });
    expect(keysOf(await store.search(["n"], { query: "walnuts" }))).toEqual(["2"]);
  });

  it("shows each connection what the other has written", async () => {
    const file = newFile();
    const one = openStore(file).store;
    const two = openStore(file).store;
    await one.put(["n"], "k", { text: "from one" });
    expect((await two.get(["n"], "k"))?.value).toEqual({ text: "from one" });
    await two.put(["n"], "k", { text: "from two" });
    await two.delete(["n"], "k");
    expect(await one.listNamespaces()).toEqual([]);
    await one.put(["n"], "k", { text: "again" });
    expect(keysOf(await two.search(["n"], { query: "again" }))).toEqual(["k"]);
  });

  it("waits for another connection's lock without blocking the event loop", async () => {
    const file = newFile();
    const { store } = openStore(file);
    const other = openStore(file).db;
    other.exec("BEGIN IMMEDIATE");
    setTimeout(() => other.exec("COMMIT"), 30);
    await store.put(["n"], "k", { n: 1 });
    expect((await store.get(["n"], "k"))?.value).toEqual({ n: 1 });
  });

  it("reads on while another connection writes", async () => {
    const file = newFile();
    const { store } = openStore(file);
    const other = openStore(file).db;
    other.exec("BEGIN IMMEDIATE");
    expect(await store.get(["n"], "k")).toBeNull();
    other.exec("COMMIT");
  });

  it("fails plainly when the disk is full, keeps nothing of the batch, and works again afterwards", async () => {
    const { store, db } = openStore(newFile());
    await store.put(["n"], "small", { n: 1 });
    const pages = Number(db.pragma("page_count", { simple: true }));
    db.pragma(`max_page_count = ${pages + 4}`);
    const big = { text: "x".repeat(100_000) };
    const batch = store.batch([
      { namespace: ["n"], key: "small", value: { n: 2 } },
      { namespace: ["n"], key: "big", value: big },
    ]);
    await expect(batch).rejects.toMatchObject({ code: "storage_full" });
    expect((await store.get(["n"], "small"))?.value).toEqual({ n: 1 });
    db.pragma("max_page_count = 1000000");
    await store.put(["n"], "big", big);
    expect(keysOf(await store.search(["n"]))).toEqual(["small", "big"]);
  });

  it("leaves no byte of what was deleted or replaced, in the file or beside it", async () => {
    const file = newFile();
    const { store, db } = openStore(file);
    for (let n = 0; n < 50; n += 1)
      await store.put(["n"], `filler${n}`, { text: `common words number ${n}` });
    await store.put(["secretns", "owner"], "secretkey", { text: "zebrafinch in the attic" });
    await store.put(["n"], "k", { text: "quokka" });
    await store.delete(["secretns", "owner"], "secretkey");
    await store.put(["n"], "k", { text: "wombat" });
    db.pragma("wal_checkpoint(TRUNCATE)");
    const bytes = readdirSync(join(file, ".."))
      .map((name) => readFileSync(join(file, "..", name), "latin1"))
      .join();
    for (const trace of ["zebrafinch", "attic", "secret", "quokka"]) expect(bytes).not.toContain(trace);
    expect(bytes).toContain("wombat");
  });
});

describe("SqliteStore on a file of an earlier version", () => {
  it("opens it once and for all with every item, its words and its vectors", async () => {
    const file = newFile();
    writeFileSync(file, gunzipSync(readFileSync(new URL("./testing/store-5.sqlite.gz", import.meta.url))));
    openStore(file).db.close();
    const embed = createFakeEmbedder({ dimensions: 8 });
    const { store, db } = openStore(file, { index: { embed, isEmbedded: ([root]) => root === "memory" } });
    expect(db.pragma("user_version", { simple: true })).toBe(STORE_SCHEMA.version);
    expect((await store.search([], { limit: 100 })).map(({ namespace, key }) => [namespace[0], key])).toEqual(
      [
        ["memory", "f1"],
        ["memory", "f2"],
        ["history", "00000001"],
        ["evidence", "p1"],
        ["blobs", "b"],
      ],
    );
    expect(await store.fillVectors(10)).toBe(false);
    expect(embed.calls).toEqual([]);
    for (const [root, key] of [
      ["memory", "f2"],
      ["history", "00000001"],
      ["evidence", "p1"],
    ] as const)
      expect(keysOf(await store.search([root], { query: "walnut", limit: 1 }))).toEqual([key]);
    expect(keysOf(await store.search(["memory"], { query: "puppy", limit: 1 }))).toEqual(["f1"]);
    expect(await store.search(["history"], { query: "gone" })).toEqual([]);
    await store.put(["history", "ada", "main", "s1"], "00000001", { user: "pears" });
    expect(await store.search(["history"], { query: "walnut" })).toEqual([]);
  });
});

describe("SqliteStore guards", () => {
  const refuse = () => {
    throw new LilyError("lease_lost", "another turn took the key");
  };

  it("asks the guard inside the transaction before a write, and writes nothing when it refuses", async () => {
    const { store, db } = openStore(":memory:");
    await store.put(["n"], "k", { n: 1 });
    const guard = vi.fn<() => void>(() => expect(db.inTransaction).toBe(true));
    const guarded = store.withGuard(guard);
    await guarded.put(["n"], "k", { n: 2 });
    await guarded.delete(["n"], "k");
    expect(guard).toHaveBeenCalledTimes(2);
    await expect(store.withGuard(refuse).put(["n"], "k", { n: 3 })).rejects.toMatchObject({
      code: "lease_lost",
    });
    expect(db.inTransaction).toBe(false);
    expect(await store.get(["n"], "k")).toBeNull();
  });

  it("does not ask the guard for reads", async () => {
    const { store } = openStore(":memory:");
    await store.put(["n"], "k", { n: 1 });
    const guarded = store.withGuard(refuse);
    expect((await guarded.get(["n"], "k"))?.value).toEqual({ n: 1 });
    expect(keysOf(await guarded.search([]))).toEqual(["k"]);
    expect(await guarded.listNamespaces()).toEqual([["n"]]);
  });
});

describe("SqliteStore index", () => {
  it("takes the default fields from its options, by namespace if they are a function", async () => {
    const index = (namespace: readonly string[]) => (namespace[0] === "blobs" ? false : ["title"]);
    const { store } = openStore(":memory:", { index: { fields: index } });
    await store.put(["blobs"], "a", { title: "walnut" });
    await store.put(["docs"], "b", { title: "walnut", body: "oak" });
    expect(keysOf(await store.search([], { query: "walnut" }))).toEqual(["b"]);
    expect(await store.search([], { query: "oak" })).toEqual([]);
    await store.put(["blobs"], "a", { title: "walnut" }, ["title"]);
    expect(keysOf(await store.search([], { query: "walnut" }))).toEqual(["a", "b"]);
  });

  it("is empty again when everything is deleted, whatever was indexed how", async () => {
    const { store, db } = openStore(":memory:");
    const texts = [
      "plain English",
      "我的猫叫米粒",
      "แมวของฉัน",
      "naïve ﬁsh x²",
      "\ud7a3 한국어",
      "abc\u0000def",
    ];
    for (const [n, text] of texts.entries())
      await store.put(["n"], `k${n}`, { text, list: [text, { deep: text }] });
    for (const n of texts.keys())
      await store.put(["n"], `k${n}`, { text: texts[texts.length - 1 - n] }, ["text", "list[0]"]);
    db.exec("CREATE VIRTUAL TABLE temp.words USING fts5vocab(main, item_text, row)");
    expect(db.prepare("SELECT count(*) FROM words").pluck().get()).toBeGreaterThan(0);
    for (const n of texts.keys()) await store.delete(["n"], `k${n}`);
    expect(db.prepare("SELECT term FROM words").pluck().all()).toEqual([]);
  });

  it.each([
    ["Chinese, a word inside others", "我的猫叫米粒", "猫"],
    ["Chinese, a question", "我住在北京大学附近", "北京在哪里？"],
    ["Japanese", "私はラーメンが好きです", "ラーメン"],
    ["Korean with a particle", "고양이를 좋아해요", "고양이"],
    ["Thai", "แมวของฉันชื่อโคโค่", "แมว"],
    ["Khmer", "ខ្ញុំចូលចិត្តកាហ្វេ", "កាហ្វេ"],
    ["Hindi", "मुझे हिन्दी पसंद है", "हिन्दी"],
    ["Arabic without the vowel signs", "مُحَمَّد", "محمد"],
    ["Hebrew without the points", "שָׁלוֹם", "שלום"],
    ["Persian", "می‌خواهم", "می‌خواهم"],
    ["another form of a letter", "full-width ＡＢＣ", "abc"],
    ["another form of a word", "two kittens were adopted", "kitten adopting"],
    ["only common words", "to be or not to be", "to be"],
  ])("finds %s", async (_what, text, query) => {
    const { store } = openStore(":memory:");
    await store.put(["n"], "wanted", { text });
    await store.put(["n"], "other", { text: "nothing of the kind; 没有; ไม่มี; नहीं; لا" });
    expect(keysOf(await store.search(["n"], { query }))[0]).toBe("wanted");
  });

  it("keeps the order in which they were put for what matches equally well, on every page", async () => {
    const { store } = openStore(":memory:");
    for (let n = 0; n < 30; n += 1) await store.put([`n${n % 3}`], `k${n}`, { text: "walnut tree" });
    const whole = await store.search([], { query: "walnut", limit: 30 });
    expect(keysOf(whole)).toEqual(Array.from({ length: 30 }, (_, n) => `k${n}`));
    const pages = [0, 10, 20].map((offset) => store.search([], { query: "walnut", offset }));
    expect((await Promise.all(pages)).flatMap(keysOf)).toEqual(keysOf(whole));
  });

  it("ranks what is written exactly as asked above what shares its parts", async () => {
    const { store } = openStore(":memory:");
    await store.put(["n"], "b", { text: "parcel LOT-77-B" });
    await store.put(["n"], "a", { text: "parcel LOT-77-A" });
    expect(keysOf(await store.search(["n"], { query: "where is LOT-77-A?" }))).toEqual(["a", "b"]);
  });

  it("parts the turns of version 6 into what the user said and the reply, which counts less", async () => {
    const file = newFile();
    const { store, db } = openStore(file);
    const turn = (...contents: string[]) => ({ messages: contents.map((content) => ({ content })) });
    const index = ["messages[*].content"];
    await store.put(["history", "ada"], "replied", turn("and now?", "walnut walnut walnut"), index);
    await store.put(["history", "ada"], "said", turn("the walnut tree", "I see"), index);
    for (const n of [1, 2, 3])
      await store.put(["history", "ada"], `o${n}`, turn("the weather", "is fair"), index);
    const best = async (from: typeof store) =>
      keysOf(await from.search(["history"], { query: "walnut", limit: 1 }));
    expect(await best(store)).toEqual(["replied"]);
    db.pragma("user_version = 6");
    db.close();
    expect(await best(openStore(file).store)).toEqual(["said"]);
  });
});
