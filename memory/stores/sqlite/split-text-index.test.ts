import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createManualClock } from "#src/kernel/clock.ts";
import { keysOf } from "../contract/with-store.ts";
import { openDatabase } from "./open-database.ts";
import { SqliteStore } from "./sqlite-store.ts";
import { STORE_SCHEMA } from "./store-schema.ts";
import { searchableText } from "./store-writer.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const OLD_SCHEMA = { ...STORE_SCHEMA, migrations: STORE_SCHEMA.migrations.slice(0, 3) };

const ITEMS = [
  { path: "memory.personality.user_profile.ada.global.", key: "tea", text: "Ada drinks walnut tea" },
  { path: "memory.personality.user_profile.ada1.global.", key: "oil", text: "walnut oil" },
  { path: "evidence.ada.default.pieces.d1.", key: "p", text: "the walnut tree, by Linnaeus" },
  { path: "memory2.ada.", key: "else", text: "walnut memory of something else" },
  { path: "history.ada.main.s1.", key: "1", text: "a walnut was said" },
];

/** A file as it was when all items shared one text index. */
function oldFile(options: { readonly unindexed?: string } = {}): string {
  const file = join(temporaryFolder(), "store.sqlite");
  const db = openDatabase(file, { schema: OLD_SCHEMA });
  for (const { path, key, text } of ITEMS) {
    const namespace = db.prepare("INSERT INTO namespaces (path) VALUES (?)").run(path).lastInsertRowid;
    const json = JSON.stringify({ text, kind: "stone" });
    const id = db
      .prepare("INSERT INTO items VALUES (NULL, ?, ?, 1, 1, ?, ?, NULL)")
      .run(namespace, key, '["text"]', json).lastInsertRowid;
    if (key !== options.unindexed)
      db.prepare("INSERT INTO item_text (rowid, body) VALUES (?, ?)").run(id, searchableText(json, ["text"]));
  }
  db.close();
  return file;
}

function openStore(file: string) {
  const db = openDatabase(file);
  onTestFinished(() => void db.close());
  return { db, store: new SqliteStore(db, { clock: createManualClock(2) }) };
}

it("gives facts and passages of an older file an index of their own, and leaves nothing of them in the shared one", async () => {
  const { db, store } = openStore(oldFile());
  const idsIn = (table: string) => db.prepare(`SELECT count(*) FROM ${table}_docsize`).pluck().get();
  expect([idsIn("item_text"), idsIn("fact_text"), idsIn("passage_text")]).toEqual([2, 2, 1]);
  expect(db.pragma("integrity_check", { simple: true })).toBe("ok");
  expect(keysOf(await store.search(["memory"], { query: "walnut" }))).toEqual(["oil", "tea"]);
  expect(keysOf(await store.search(["evidence", "ada"], { query: "walnut" }))).toEqual(["p"]);
  expect(keysOf(await store.search(["history"], { query: "walnut" }))).toEqual(["1"]);
  db.exec("CREATE VIRTUAL TABLE temp.words USING fts5vocab(main, item_text, row)");
  const words = db.prepare("SELECT term FROM words").pluck().all();
  expect(words).toContain("els");
  expect(words).not.toContain("tea");
  expect(words).not.toContain("linnaeu");
});

it("finds over everything what lies in any of the indexes, page by page", async () => {
  const { store } = openStore(oldFile());
  const whole = keysOf(await store.search([], { query: "walnut" }));
  expect(whole.toSorted()).toEqual(["1", "else", "oil", "p", "tea"]);
  const pages = [0, 2, 4].map((offset) => store.search([], { query: "walnut", limit: 2, offset }));
  expect((await Promise.all(pages)).flatMap(keysOf)).toEqual(whole);
  const filtered = await store.search([], { query: "walnut", filter: { kind: "stone" }, limit: 3 });
  expect(keysOf(filtered)).toEqual(whole.slice(0, 3));
});

it("changes and forgets a fact that came from an older file", async () => {
  const { db, store } = openStore(oldFile());
  const ada = ["memory", "personality", "user_profile", "ada", "global"];
  await store.put(ada, "tea", { text: "Ada drinks plum juice" }, ["text"]);
  expect(await store.search(["memory"], { query: "tea" })).toEqual([]);
  expect(keysOf(await store.search(["memory"], { query: "plums" }))).toEqual(["tea"]);
  await store.delete(ada, "tea");
  db.exec("CREATE VIRTUAL TABLE temp.words USING fts5vocab(main, fact_text, row)");
  expect(db.prepare("SELECT term FROM words").pluck().all()).toEqual(["oil", "walnut"]);
});

it("leaves no byte of a fact from an older file that is deleted", async () => {
  const file = oldFile();
  const { db, store } = openStore(file);
  await store.delete(["memory", "personality", "user_profile", "ada1", "global"], "oil");
  await store.delete(["evidence", "ada", "default", "pieces", "d1"], "p");
  await store.scrub();
  db.close();
  const bytes = readFileSync(file, "latin1");
  expect(bytes).toContain("walnut");
  for (const word of ["oil", "linnae", "Linnae"]) expect(bytes).not.toContain(word);
});

it("opens an older file whose index did not know one of the texts", async () => {
  const { db, store } = openStore(oldFile({ unindexed: "tea" }));
  expect(db.pragma("user_version", { simple: true })).toBe(STORE_SCHEMA.migrations.length);
  expect(keysOf(await store.search(["memory"], { query: "tea" }))).toEqual(["tea"]);
});

it("opens an older file in which a value is no JSON any more, and finds the other facts", async () => {
  const file = oldFile();
  const old = openDatabase(file, { schema: OLD_SCHEMA });
  // What damages a page asks no index; SQL would be refused by this one.
  old.exec("DROP INDEX facts_by_age");
  old.exec(`UPDATE items SET value = '{"text": "Ada dri' WHERE key = 'tea'`);
  old.exec("CREATE INDEX facts_by_age ON items (namespace_id)");
  old.close();
  const { store } = openStore(file);
  expect(keysOf(await store.search(["memory"], { query: "walnut" }))).toEqual(["oil"]);
  const namespace = ["memory", "personality", "user_profile", "ada1", "global"];
  expect(keysOf(await store.search(namespace, { newestFirst: true }))).toEqual(["oil"]);
});
