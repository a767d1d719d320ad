/** `npm run eval:recall`: what is found of turns and of facts on public data, plain FTS5 beside the product. */
import { resolve } from "node:path";
import Database from "better-sqlite3";
import Table from "cli-table3";
import { recallFacts } from "#graphs/session/run-memory.ts";
import { rankFacts } from "#src/context/found-sections.ts";
import { createFactStore, type FactStore } from "#memory/facts/fact-store.ts";
import { createManualClock } from "#src/kernel/clock.ts";
import { createSequentialIds } from "#src/kernel/ids.ts";
import { indexFieldsOf } from "#memory/namespaces.ts";
import { openDatabase } from "#memory/stores/sqlite/open-database.ts";
import { SqliteStore } from "#memory/stores/sqlite/sqlite-store.ts";
import { readJson, readMadial, readPrecision } from "./data.ts";
import { measureMadial } from "./madial.ts";
import { measurePrecision, type Answering } from "./precision.ts";
import { locomoSchema, measureLocomo, type LocomoMeasure } from "./locomo.ts";

/** Below these the product finds too little. Nothing may leak, and nothing be replaced without a reason. */
const LEAST = { locomo10: 0.61, madial5: 0.52, madial10: 0.6, precision: 0.47, recall: 0.89 };

const folder = resolve(process.env["LILY_DATA"] ?? "../shared/data");
const LOCOMO = "locomo10.conversation-qa.json.gz";

const style = { head: [], border: [], compact: true };
const share = (one: number): string => (100 * one).toFixed(1);
const failures: string[] = [];
const assert = (holds: boolean, what: string): void => void (holds || failures.push(what));

async function reportLocomo(): Promise<string> {
  const file = readJson(`${folder}/${LOCOMO}`);
  if (file === undefined)
    return `LoCoMo: not measured; ${folder} has no ${LOCOMO} (LILY_DATA names another folder).`;
  const data = locomoSchema.parse(file);
  const table = new Table({ head: ["LoCoMo, turns", "questions", "R@5", "R@10"], style });
  const parts = {
    "1 to 5 (chosen on)": data.slice(0, 5),
    "6 to 10 (confirmed on)": data.slice(5),
    all: data,
  };
  const row = (name: string, { questions, at5, at10 }: LocomoMeasure): void =>
    void table.push([name, questions, share(at5), share(at10)]);
  for (const [part, conversations] of Object.entries(parts)) {
    const { plain, product } = await measureLocomo(conversations);
    row(`plain FTS5, ${part}`, plain);
    row(`product, ${part}`, product);
    if (part === "all")
      assert(product.at10 >= LEAST.locomo10, `LoCoMo R@10 is below ${share(LEAST.locomo10)}`);
  }
  return `${table.toString()}\nMeans of the five kinds of question. The product lets turns beside a turn count; published rows score each turn alone.`;
}

/** An empty store of facts in memory. */
function openFacts(): FactStore {
  const clock = createManualClock(0);
  const store = new SqliteStore(openDatabase(":memory:"), { clock, index: { fields: indexFieldsOf } });
  return createFactStore(store, { clock, ids: createSequentialIds(), scan: async () => [] });
}

async function reportMadial(): Promise<string> {
  const data = readMadial(folder);
  if (data === undefined) return `MADial-Bench: not measured; ${folder} does not have it.`;
  const head = ["MADial-Bench, facts", "turns", "R@5", "R@10", "R@20", "given", "wrongly replaced"];
  const table = new Table({ head, style });
  const { turns, recall, given, wronglyReplaced } = await measureMadial(openFacts(), data);
  const shares = [recall[5], recall[10], recall[20]].map(share);
  table.push(["product", turns, ...shares, given.toFixed(1), wronglyReplaced]);
  assert(recall[5] >= LEAST.madial5 && recall[10] >= LEAST.madial10, "MADial-Bench is below its marks");
  assert(wronglyReplaced === 0, "MADial-Bench: facts were replaced without a reason");
  return table.toString();
}

/** The order of FTS5 over all facts of a person and task: those that hold, and of no other task. */
function plainAnswering(facts: FactStore): Answering {
  return async (who, { query, task }) => {
    const { all } = await facts.recall(who, { query, limit: 0, ...(task === undefined ? {} : { task }) });
    const records = all.filter(({ domain }) => domain === "user_profile" || domain === "task_memory");
    const db = new Database(":memory:");
    db.exec("CREATE VIRTUAL TABLE facts USING fts5 (body, tokenize = 'porter unicode61')");
    const add = db.prepare<[number, string]>("INSERT INTO facts (rowid, body) VALUES (?, ?)");
    for (const [index, { text }] of records.entries()) add.run(index, text);
    const words = query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
    const find = db
      .prepare<[string], number>("SELECT rowid FROM facts WHERE facts MATCH ? ORDER BY rank LIMIT 20")
      .pluck();
    const found = find.all(words.map((word) => `"${word}"`).join(" OR "));
    db.close();
    return found.flatMap((index) => records[index] ?? []);
  };
}

/** The order in which the product ranks facts. */
function rankingOf(facts: FactStore): Answering {
  return async (who, { query, task }) => {
    const found = await facts.recall(who, { query, limit: 12, ...(task === undefined ? {} : { task }) });
    return rankFacts({ bySaid: found.relevant, byEarlier: [] }, { said: query, earlier: [] }).ranked;
  };
}

/** All facts that a prompt holds. */
function promptOf(facts: FactStore): Answering {
  return async (who, { query, task }) => {
    const recalled = await recallFacts({ facts, who }, { text: query, earlier: [], task, byMeaning: false });
    return [...new Set([...recalled.relevant, ...recalled.always])];
  };
}

const ANSWERINGS = [
  ["plain FTS5", plainAnswering],
  ["product, the ranking alone", rankingOf],
  ["product, what a prompt holds", promptOf],
] as const;

async function reportPrecision(): Promise<string> {
  const data = readPrecision(folder);
  if (data === undefined) return `precisionMemBench: not measured; ${folder} does not have it.`;
  const head = ["precisionMemBench, facts", "precision", "recall", "given", "wrongly replaced", "leaks"];
  const table = new Table({ head, style });
  for (const [name, answering] of ANSWERINGS) {
    const facts = openFacts();
    const measure = await measurePrecision(facts, data, answering(facts));
    const { precision, recall, given, wronglyReplaced, leaks } = measure;
    const leaked = leaks.replaced + leaks.otherTask + leaks.otherPerson;
    table.push([name, precision.toFixed(2), recall.toFixed(2), given.toFixed(1), wronglyReplaced, leaked]);
    assert(
      wronglyReplaced === 0 && leaked === 0,
      `precisionMemBench: ${name} leaks ${JSON.stringify(leaks)}`,
    );
    if (answering === rankingOf)
      assert(precision >= LEAST.precision && recall >= LEAST.recall, "precisionMemBench is below its marks");
  }
  return `${table.toString()}\nA prompt holds who the user is whatever is asked: it knows more than the question needs.`;
}

for (const report of [reportLocomo, reportMadial, reportPrecision]) console.log(`${await report()}\n`);
if (failures.length > 0) console.log(failures.join("\n"));
process.exitCode = failures.length === 0 ? 0 : 1;
