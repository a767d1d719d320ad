import { mkdtempSync, statSync, rmSync } from "node:fs";
import Database from "better-sqlite3";
import { openDatabase } from "./open-database.ts";
import { SqliteStore } from "./sqlite-store.ts";
const dir = mkdtempSync("/tmp/lx/b-");
const clock = { now: () => Date.now(), monotonic: () => performance.now() };
const db = openDatabase(dir + "/s.sqlite");
const store = new SqliteStore(db, { clock });
const pct = (a: number[], p: number) => a.toSorted((x, y) => x - y)[Math.floor(a.length * p)]! * 1000;
async function bench(label: string, n: number, f: (i: number) => unknown) {
  for (let i = 0; i < 500; i++) await f(i);
  const a: number[] = [];
  for (let i = 500; i < 500 + n; i++) { const t = performance.now(); await f(i); a.push(performance.now() - t); }
  console.log(label, "p50", pct(a, 0.5).toFixed(1), "p95", pct(a, 0.95).toFixed(1), "us");
}
const words = Array.from({ length: 20000 }, (_, i) => "w" + ((i * 7919) % 99991).toString(36) + "x");
let seed = 1; const rnd = () => { seed = (seed * 1103515245 + 12345) & 0x7fffffff; return seed / 0x7fffffff; };
const doc = () => Array.from({ length: 100 }, () => words[Math.floor(rnd() ** 4 * words.length)]).join(" ");
const raw = new Database(dir + "/raw.sqlite", {}); raw.pragma("journal_mode=WAL"); raw.pragma("synchronous=NORMAL"); raw.pragma("secure_delete=ON");
raw.exec("create table kv(ns text, key text, value text, c int, u int, primary key(ns,key))");
const rp = raw.prepare("insert or replace into kv values(?,?,?,?,?)"); const rg = raw.prepare("select * from kv where ns=? and key=?");
await bench("raw put", 5000, (i) => rp.run("history.local.cli.x", "k" + i, JSON.stringify({ text: "hello", n: i, body: "x".repeat(300) }), 1, 1));
await bench("raw get", 5000, (i) => rg.get("history.local.cli.x", "k" + i));
await bench("put new no index", 5000, (i) => store.put(["history", "local", "cli"], "k" + i, { text: "hello", n: i, body: "x".repeat(300) }, false));
await bench("put update no index", 5000, (i) => store.put(["history", "local", "cli"], "k" + i, { text: "hello2", n: i, body: "x".repeat(300) }, false));
await bench("get", 5000, (i) => store.get(["history", "local", "cli"], "k" + i));
await bench("search list 10", 2000, () => store.search(["history", "local", "cli"]));
db.pragma("wal_checkpoint(TRUNCATE)"); const before = statSync(dir + "/s.sqlite").size;
await bench("put 100 words no index", 9500, (i) => store.put(["docs", "u0"], "k" + i, { text: doc() }, false));
db.pragma("wal_checkpoint(TRUNCATE)"); const mid = statSync(dir + "/s.sqlite").size;
await bench("put indexed 100 words", 9500, (i) => store.put(["docs", "u" + (i % 10)], "k" + i, { text: doc() }));
db.pragma("wal_checkpoint(TRUNCATE)"); const after = statSync(dir + "/s.sqlite").size;
console.log("bytes/item no index", (mid - before) / 10000, "indexed", (after - mid) / 10000, "index", (db.prepare("select sum(pgsize) from dbstat where name like 'item_text%'").pluck().get() as number ?? 0) / 10000);
await bench("query 3 words", 300, (i) => store.search(["docs", "u1"], { query: `${words[i]} ${words[i + 3000]} ${words[9000 + i]}` }));
await bench("query 14 words", 300, () => store.search(["docs", "u1"], { query: doc().split(" ").slice(0, 14).join(" ") }));
await bench("update indexed", 500, (i) => store.put(["docs", "u" + (i % 10)], "k" + i, { text: doc() }));
await bench("delete indexed", 500, (i) => store.delete(["docs", "u" + (i % 10)], "k" + (i + 2000)));
await bench("filter eq selective 1000 items", 300, (i) => store.search(["docs", "u1"], { filter: { nope: i } }));
db.close(); rmSync(dir, { recursive: true });
