/** `npm run bench:store`: what the store takes, as ratios to bare SQLite asked the same in the same run; no exit code. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { Command } from "commander";
import { createFactStore } from "#memory/facts/fact-store.ts";
import { systemClock, systemIds } from "#src/app/system.ts";
import { openSqliteBackend } from "#src/storage/sqlite/sqlite-backend.ts";
import { barTable, readBars, rounded, tableOf } from "./bars.ts";
import { benchText } from "./instant-model.ts";
import { measureInTurns, percentile, type Subject } from "./rounds.ts";

const program = new Command("npm run bench:store --")
  .description("Measures put, get, list and search of the SQLite store, and recall, beside bare SQLite.")
  .option("--quick", "1,000 records and 300 facts (the default)")
  .option("--full", "10,000 records and 3,000 facts")
  .parse();
const [records, facts] = program.opts<{ full?: boolean }>().full === true ? [10_000, 3_000] : [1_000, 300];

const WHO = { owner: "ada" };
const NAMESPACE = ["bench", "notes"];
const ROUNDS = 60;
const WARM_UP = 10;

const note = (index: number) =>
  [`note-${index}`, { text: benchText(index, "answer"), kind: index % 10 }] as const;

const root = mkdtempSync(join(tmpdir(), "lily-store-bench-"));
// Both sides without a wait for the disk: that would be all one sees.
const files = { checkpointPath: join(root, "checkpoints.sqlite"), storePath: join(root, "store.sqlite") };
const clock = systemClock();
const backend = openSqliteBackend({ ...files, clock, synchronous: "NORMAL" });
const bare = openBare(join(root, "bare.sqlite"));
try {
  const subjects = await fill();
  await measureInTurns(subjects, WARM_UP);
  const samples = await measureInTurns(subjects, ROUNDS);
  const bars = readBars().store;
  const ratios = Object.fromEntries(
    bars.map(({ id }) => [id, percentile(samples, id, 0.5) / percentile(samples, `${id}, bare`, 0.5)]),
  );
  const rows = subjects.map(({ name }) => [
    name,
    ...[0.5, 0.95].map((share) => `${rounded(percentile(samples, name, share))} ms`),
  ]);
  console.log(`${records} records, ${facts} facts`);
  console.log(tableOf(["what", "p50", "p95"], rows));
  console.log(barTable(bars, ratios));
} finally {
  await backend.close();
  bare.close();
  rmSync(root, { recursive: true, force: true });
}

/** Fills both sides with the same, and names what is measured. */
async function fill(): Promise<Subject[]> {
  const { store } = backend;
  const book = createFactStore(store, { clock, ids: systemIds, scan: async () => [] });
  for (let index = 0; index < records; index += 1) {
    await store.put(NAMESPACE, ...note(index));
    bare.put("notes", ...note(index));
  }
  const fact = { domain: "user_profile", saidBy: "owner", source: "command" } as const;
  for (let index = 0; index < facts; index += 1)
    await book.remember(WHO, { ...fact, text: benchText(index, "answer") });
  for (const record of (await book.exportAll(WHO)).records) bare.put("facts", record.id, record);
  const pick = counter(0, records);
  const fresh = counter(records);
  const question = (): string => `item ${pick() * 7}`;
  const pairs: Record<string, readonly [() => unknown, () => unknown]> = {
    put: [
      (index = fresh()) => store.put(NAMESPACE, ...note(index)),
      (index = fresh()) => bare.put("notes", ...note(index)),
    ],
    get: [() => store.get(NAMESPACE, note(pick())[0]), () => bare.get(note(pick())[0])],
    list: [() => store.search(NAMESPACE, { filter: { kind: 3 } }), () => bare.list(3)],
    search: [() => store.search(NAMESPACE, { query: question() }), () => bare.search(question())],
    recall: [() => book.recall(WHO, { query: question(), limit: 12 }), () => bare.facts()],
  };
  return Object.entries(pairs).flatMap(([name, [ours, theirs]]) => [
    { name, run: ours, perRound: 5 },
    { name: `${name}, bare`, run: theirs, perRound: 5 },
  ]);
}

/** better-sqlite3 and FTS5 with nothing around them. */
function openBare(file: string) {
  const db = new Database(file);
  for (const pragma of ["journal_mode = WAL", "synchronous = NORMAL"]) db.pragma(pragma);
  db.exec(`CREATE TABLE items (id INTEGER PRIMARY KEY, ns TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, UNIQUE (ns, key));
    CREATE VIRTUAL TABLE words USING fts5 (body, content = '', tokenize = "porter unicode61 remove_diacritics 2")`);
  const add = db.prepare("INSERT INTO items (ns, key, value) VALUES (?, ?, ?)");
  const addWords = db.prepare("INSERT INTO words (rowid, body) VALUES (?, ?)");
  const get = db.prepare<[string], string>("SELECT value FROM items WHERE ns = 'notes' AND key = ?").pluck();
  const list = db.prepare<[number], string>(
    "SELECT value FROM items WHERE ns = 'notes' AND value ->> '$.kind' = ? ORDER BY id LIMIT 10",
  );
  const search = db.prepare<[string], string>(
    `SELECT value FROM words CROSS JOIN items ON items.id = words.rowid
     WHERE words MATCH ? AND ns = 'notes' ORDER BY bm25(words) LIMIT 10`,
  );
  const all = db.prepare<[], string>("SELECT value FROM items WHERE ns = 'facts' ORDER BY id").pluck();
  const parse = (text: string): unknown => JSON.parse(text);
  return {
    put: db.transaction((ns: string, key: string, value: { readonly text: string }) => {
      addWords.run(add.run(ns, key, JSON.stringify(value)).lastInsertRowid, value.text);
    }),
    get: (key: string) => parse(get.get(key) ?? "null"),
    list: (kind: number) => list.pluck().all(kind).map(parse),
    search: (words: string) => search.pluck().all(words.split(" ").join(" OR ")).map(parse),
    facts: () => all.all().map(parse),
    close: () => void db.close(),
  };
}

/** Whole numbers from `start`, and from there again once `end` is reached. */
function counter(start: number, end = Number.POSITIVE_INFINITY): () => number {
  let next = start - 1;
  return () => (next = next + 1 < end ? next + 1 : start);
}
