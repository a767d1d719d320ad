import { inspect } from "node:util";
import { Pool } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createFakeEmbedder } from "#memory/embedding/testing/fake-embedder.ts";
import { createManualClock } from "#src/kernel/clock.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { describeStoreContract, keysOf, type StoreFixture } from "../testing/store-contract.ts";
import { StoreView, type DurableStoreOptions } from "../durable-store.ts";
import type { StoreIndex } from "../index-fields.ts";
import { PostgresDatabase } from "./postgres-database.ts";
import { PostgresStore } from "./postgres-store.ts";
import { setUpStore } from "./store-tables.ts";
import { openTestPool, startPostgres, whyNoPostgres, type PostgresServer } from "./testing/start-postgres.ts";

const START_MS = 1_700_000_000_000;
const SCHEMA = 'li"ly';
const missing = whyNoPostgres();

let server: PostgresServer;
let address: string;
let pool: Pool;

const database = (): PostgresDatabase => new PostgresDatabase(pool, "test", SCHEMA);

function openStore(options: Partial<DurableStoreOptions> = {}): PostgresStore {
  return new PostgresStore(database(), { clock: createManualClock(START_MS), ...options });
}

const setUp = (): Promise<void> => setUpStore(database());

// Emptying the tables takes a fraction of the time that making them takes.
const empty = (): Promise<unknown> =>
  pool.query('DELETE FROM "li""ly".lily_items; DELETE FROM "li""ly".lily_namespaces');

function makeStore(): StoreFixture {
  const clock = createManualClock(START_MS);
  const store = openStore({ clock });
  let emptied: Promise<unknown> | undefined;
  const view = new StoreView(async (operations) => {
    await (emptied ??= empty());
    return store.batch(operations);
  });
  return { store: view, tick: () => clock.advance(1) };
}

describe.skipIf(missing !== undefined)(`the store in PostgreSQL${missing ? ` (${missing})` : ""}`, () => {
  beforeAll(async () => {
    server = await startPostgres();
    address = await server.createDatabase();
    pool = openTestPool(address);
    await setUp();
  });
  afterAll(async () => {
    await pool.end();
    await server.stop();
  });

  describeStoreContract("PostgresStore", makeStore, 15);

  describe("PostgresStore", () => {
    beforeEach(empty);
    describeDatabase();
    describeGuards();
    describeIndex();
    describeVectors();
  });
});

/** Whether some connection waits for a lock that another one holds. */
async function isBlocked(): Promise<boolean> {
  const { rowCount } = await pool.query("SELECT FROM pg_locks WHERE NOT granted");
  return rowCount !== 0;
}

function describeDatabase(): void {
  it("keeps what was stored when its tables are set up again", async () => {
    await openStore().put(["n"], "k", { text: "walnut\u0000tree" });
    await setUp();
    expect((await openStore().get(["n"], "k"))?.value).toEqual({ text: "walnut\u0000tree" });
  });

  it("goes on with tables of an earlier version, which kept facts' columns beside their values", async () => {
    await openStore().put(["memory", "n"], "a", { text: "walnut", conflict_group: "tree" }, ["text"]);
    await pool.query(`ALTER TABLE "li""ly".lily_items ADD newness text, ADD conflict_group text, ADD state text;
      UPDATE "li""ly".lily_items SET conflict_group = '"tree"';
      DROP TABLE "li""ly".lily_vectors;
      DROP FUNCTION "li""ly".lily_vectors_of_changed_item CASCADE;
      UPDATE "li""ly".lily_store_versions SET version = 2 WHERE version = 5`);
    await setUp();
    expect(keysOf(await openStore().search(["memory"], { query: "walnuts" }))).toEqual(["a"]);
    await openStore().put(["memory", "n"], "b", { text: "hazel" });
    const { rows } = await pool.query('SELECT * FROM "li""ly".lily_items LIMIT 1');
    expect(rows[0]).not.toHaveProperty("conflict_group");
  });

  it("leaves tables of a newer program alone", async () => {
    const versions = '"li""ly".lily_store_versions';
    await pool.query(`INSERT INTO ${versions} (version) VALUES (99)`);
    await expect(setUp()).rejects.toMatchObject({ code: "storage_newer" });
    await pool.query(`DELETE FROM ${versions} WHERE version = 99`);
  });

  it("finds what passes a filter beyond the first page", async () => {
    const store = openStore();
    const items = Array.from({ length: 203 }, (_, n) => ({ namespace: ["n"], key: `k${n}`, value: { n } }));
    await store.batch(items);
    const late = await store.search(["n"], { filter: { n: { $gte: 100 } }, limit: 5, offset: 100 });
    expect(keysOf(late)).toEqual(["k200", "k201", "k202"]);
  });

  it("takes labels and keys of any size and script, and the last code point", async () => {
    const store = openStore();
    const odd = ["\u{10ffff}\u{10ffff}\u{10ffff}", "é", "e\u0301", "\\", "'", '"', "$1", "x".repeat(500)];
    for (const label of odd) await store.put([label], label, { label });
    expect(await store.search([], { limit: 100 })).toHaveLength(odd.length);
    for (const label of odd) {
      expect((await store.search([label])).map((item) => item.value)).toEqual([{ label }]);
    }
  });

  it("loses no put of many connections into a namespace that none of them finds", async () => {
    const store = openStore();
    const keys = Array.from({ length: 30 }, (_, n) => `k${n}`);
    await Promise.all(keys.map((key) => store.put(["new"], key, { key })));
    expect(keysOf(await store.search(["new"], { limit: 100 })).sort()).toEqual(keys.sort());
    expect(await store.listNamespaces()).toEqual([["new"]]);
  });

  it("neither loses an item nor lists an empty namespace when one connection empties what another fills", async () => {
    const store = openStore();
    for (let round = 0; round < 10; round += 1) {
      await store.put(["n"], "old", {});
      await Promise.all([store.delete(["n"], "old"), store.put(["n"], "new", { round })]);
      expect((await store.get(["n"], "new"))?.value).toEqual({ round });
      await store.delete(["n"], "new");
      expect(await store.listNamespaces()).toEqual([]);
    }
  });

  it("tries again what PostgreSQL ended as a deadlock", async () => {
    const store = openStore();
    await store.put(["n"], "a", {});
    await store.put(["n"], "b", {});
    const other = await pool.connect();
    // The one that waits for longer than this looks for deadlocks, and is ended for one; it shall not be this one.
    await other.query("SET deadlock_timeout = '1min'; BEGIN");
    const touch = (key: string) =>
      other.query(`UPDATE "li""ly".lily_items SET key = key WHERE key = $1`, [key]);
    await touch("b");
    const batch = store.batch([
      { namespace: ["n"], key: "a", value: { by: "batch" } },
      { namespace: ["n"], key: "b", value: { by: "batch" } },
    ]);
    while (!(await isBlocked())) await new Promise((resolve) => setImmediate(resolve));
    await touch("a");
    await other.query("COMMIT; RESET deadlock_timeout");
    other.release();
    await batch;
    expect((await store.search(["n"])).map((item) => item.value)).toEqual([{ by: "batch" }, { by: "batch" }]);
  });

  it("names the server and not the password when it cannot connect", async () => {
    const unreachable = new Pool({ connectionString: "postgresql://lily:hush@127.0.0.1:1/x" });
    const store = new PostgresStore(new PostgresDatabase(unreachable, "127.0.0.1:1/x"), {
      clock: createManualClock(0),
    });
    const failure = await store.get(["n"], "k").catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "storage_unreachable" });
    expect(String(failure)).toContain("127.0.0.1:1/x");
    expect(inspect(failure)).not.toContain("hush");
  });
}

function describeGuards(): void {
  const refuse = () => Promise.reject(new LilyError("lease_lost", "another turn took the key"));

  it("asks the guard in the transaction of the write, and writes nothing when it refuses", async () => {
    const store = openStore();
    await store.put(["n"], "k", { n: 1 });
    let asked = 0;
    const guarded = store.withGuard(async (client) => {
      asked += 1;
      await client.query('DELETE FROM "li""ly".lily_items');
      await refuse();
    });
    await expect(guarded.put(["n"], "k", { n: 2 })).rejects.toMatchObject({ code: "lease_lost" });
    expect(asked).toBe(1);
    expect((await store.get(["n"], "k"))?.value).toEqual({ n: 1 });
  });

  it("does not ask the guard for reads", async () => {
    const store = openStore();
    await store.put(["n"], "k", { n: 1 });
    const guarded = store.withGuard(refuse);
    expect((await guarded.get(["n"], "k"))?.value).toEqual({ n: 1 });
    expect(keysOf(await guarded.search([]))).toEqual(["k"]);
    expect(await guarded.listNamespaces()).toEqual([["n"]]);
  });
}

/** With an embedder. The rules of filling are the same as on SQLite, where they are tested. */
function describeVectors(): void {
  const withVectors = (options: StoreIndex = {}) => {
    const embedder = createFakeEmbedder();
    return { embedder, store: openStore({ index: { embed: embedder, ...options } }) };
  };

  it("finds other words of the same meaning once vectors are made, and puts what has word and meaning first", async () => {
    const { store, embedder } = withVectors();
    await store.put(["n"], "word", { text: "my puppy barks" });
    await store.put(["n"], "meaning", { text: "a hound" });
    await store.put(["n"], "neither", { text: "the tax office" });
    expect(keysOf(await store.search(["n"], { query: "puppy" }))).toEqual(["word"]);
    expect(await store.fillVectors(10)).toBe(false);
    expect(keysOf(await store.search(["n"], { query: "puppy" })).slice(0, 2)).toEqual(["word", "meaning"]);
    expect(embedder.calls).toEqual([["my puppy barks", "a hound", "the tax office"], ["puppy"]]);
  });

  it("keeps the namespace, the filter and the page", async () => {
    const { store } = withVectors();
    for (const [key, kind] of Object.entries({ a: "pet", b: "other", c: "pet" }))
      await store.put(["n"], key, { text: "a hound", kind });
    await store.put(["n", "below"], "d", { text: "a hound", kind: "pet" });
    await store.put(["n2"], "e", { text: "a hound", kind: "pet" });
    await store.fillVectors(10);
    const found = { query: "puppy", filter: { kind: "pet" } };
    expect(keysOf(await store.search(["n"], found)).sort()).toEqual(["a", "c", "d"]);
    const pages = [0, 1, 2, 3].map((offset) => store.search(["n"], { ...found, offset, limit: 1 }));
    expect((await Promise.all(pages)).flatMap(keysOf).sort()).toEqual(["a", "c", "d"]);
  });

  it("a vector goes with its item and with its text, also when that changes while the embedder works", async () => {
    const { store, embedder } = withVectors();
    await store.put(["n"], "deleted", { text: "a hound" });
    await store.put(["n"], "changed", { text: "a puppy" });
    const embed = embedder.embed.bind(embedder);
    vi.spyOn(embedder, "embed").mockImplementationOnce(async (texts) => {
      await store.put(["n"], "changed", { text: "the tax office" });
      await store.delete(["n"], "deleted");
      return embed(texts);
    });
    await store.fillVectors(2);
    expect((await pool.query('SELECT FROM "li""ly".lily_vectors')).rowCount).toBe(0);
    await store.fillVectors(10);
    expect((await pool.query('SELECT FROM "li""ly".lily_vectors')).rowCount).toBe(1);
    await store.put(["n"], "changed", { text: "a car" });
    expect((await pool.query('SELECT FROM "li""ly".lily_vectors')).rowCount).toBe(0);
  });

  it("gives the embedder only what it may have, and answers by words while it is down", async () => {
    const { store, embedder } = withVectors({ isEmbedded: ([root]) => root !== "private" });
    await store.put(["private"], "a", { text: "my puppy" });
    await store.put(["open"], "b", { text: "my puppy" });
    embedder.fails = new Error("connection refused");
    await expect(store.fillVectors(10)).rejects.toMatchObject({ code: "embedding_failed" });
    expect(keysOf(await store.search([], { query: "puppy" })).sort()).toEqual(["a", "b"]);
    embedder.fails = undefined;
    expect(await store.fillVectors(10)).toBe(false);
    expect(embedder.calls.at(-1)).toEqual(["my puppy"]);
    expect(keysOf(await store.search([], { query: "hound" }))).toEqual(["b"]);
  });
}

function describeIndex(): void {
  it("takes the default fields from its options, by namespace if they are a function", async () => {
    const fields = (namespace: readonly string[]) => (namespace[0] === "blobs" ? false : ["title"]);
    const store = openStore({ index: { fields } });
    await store.put(["blobs"], "a", { title: "walnut" });
    await store.put(["docs"], "b", { title: "walnut", body: "oak" });
    expect(keysOf(await store.search([], { query: "walnut" }))).toEqual(["b"]);
    expect(await store.search([], { query: "oak" })).toEqual([]);
    await store.put(["blobs"], "a", { title: "walnut" }, ["title"]);
    expect(keysOf(await store.search([], { query: "walnut" })).sort()).toEqual(["a", "b"]);
  });

  it("takes a word that is longer than an entry of its index may be", async () => {
    const store = openStore();
    const word = "y".repeat(20_000);
    await store.put(["n"], "k", { word });
    expect(keysOf(await store.search(["n"], { query: word }))).toEqual(["k"]);
  });

  it.each([
    ["Chinese, a word inside others", "我的猫叫米粒", "猫"],
    ["Japanese", "私はラーメンが好きです", "ラーメン"],
    ["Korean with a particle", "고양이를 좋아해요", "고양이"],
    ["Thai", "แมวของฉันชื่อโคโค่", "แมว"],
    ["Hindi", "मुझे हिन्दी पसंद है", "हिन्दी"],
    ["Arabic without the vowel signs", "مُحَمَّد", "محمد"],
    ["another form of a letter", "full-width ＡＢＣ", "abc"],
    ["another form of a word", "two kittens were adopted", "kitten adopting"],
  ])("finds %s", async (_what, text, query) => {
    const store = openStore();
    await store.put(["n"], "wanted", { text });
    await store.put(["n"], "other", { text: "nothing of the kind; 没有; ไม่มี; नहीं; لا" });
    expect(keysOf(await store.search(["n"], { query }))[0]).toBe("wanted");
  });
}
