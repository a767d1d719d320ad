/** `npm run eval:recall`: what is found of turns and of facts on public data, plain FTS5 beside the product. */
import { resolve } from "node:path";
import Database from "better-sqlite3";
import Table from "cli-table3";
import { recallFacts } from "#graphs/session/run-memory.ts";
import { rankFacts } from "#src/context/found-sections.ts";
import type { FactStore } from "#memory/facts/fact-store.ts";
import { readJson, readMadial, readPrecision, type PrecisionData } from "#evals/suites/memory/public/data.ts";
import { measureMadial } from "#evals/suites/memory/public/madial.ts";
import { scorePrecision, type PrecisionScore } from "#evals/suites/memory/public/precision.ts";
import { openBook } from "#evals/suites/memory/public/run.ts";
import { locomoSchema, measureLocomo, type LocomoMeasure } from "./locomo.ts";

/** Below these the product finds too little. */
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

async function reportMadial(): Promise<string> {
  const data = readMadial(folder);
  if (data === undefined) return `MADial-Bench: not measured; ${folder} does not have it.`;
  const table = new Table({ head: ["MADial-Bench, facts", "turns", "R@5", "R@10", "given"], style });
  const { turns, recall, given } = await measureMadial(openBook(), data);
  table.push(["product", turns, share(recall[5]), share(recall[10]), given.toFixed(1)]);
  assert(recall[5] >= LEAST.madial5 && recall[10] >= LEAST.madial10, "MADial-Bench is below its marks");
  return table.toString();
}

/** The order of FTS5 over all facts of a person and task: those that hold, and of no other task. */
function plainAnswering(facts: FactStore) {
  return async (
    who: { readonly owner: string },
    { query, task }: { readonly query: string; readonly task?: string },
  ) => {
    const newest = { user_profile: Infinity, task_memory: Infinity };
    const records = (
      await facts.recall(who, { query, limit: 0, newest, ...(task === undefined ? {} : { task }) })
    ).newest;
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

async function reportPrecision(): Promise<string> {
  const data: PrecisionData | undefined = readPrecision(folder);
  if (data === undefined) return `precisionMemBench: not measured; ${folder} does not have it.`;
  const table = new Table({ head: ["precisionMemBench, facts", "precision", "recall", "given"], style });
  const row = (name: string, { precision, recall, given }: PrecisionScore): void =>
    void table.push([name, precision.toFixed(2), recall.toFixed(2), given.toFixed(1)]);
  const [forPlain, forRanking, forPrompt] = [openBook(), openBook(), openBook()];
  row("plain FTS5", await scorePrecision(forPlain, data, plainAnswering(forPlain)));
  const ranking = await scorePrecision(forRanking, data, async (who, { query, task }) => {
    const found = await forRanking.recall(who, { query, limit: 12, ...(task === undefined ? {} : { task }) });
    return rankFacts({ bySaid: found.relevant, byEarlier: [] }, { said: query, earlier: [] }).ranked;
  });
  row("product, the ranking alone", ranking);
  const prompt = await scorePrecision(forPrompt, data, async (who, { query, task }) => {
    const recalled = await recallFacts(
      { facts: forPrompt, who },
      { text: query, earlier: [], task, byMeaning: false },
    );
    return [...new Set([...recalled.relevant, ...recalled.always])];
  });
  row("product, what a prompt holds", prompt);
  assert(
    ranking.precision >= LEAST.precision && ranking.recall >= LEAST.recall,
    "precisionMemBench is below its marks",
  );
  return `${table.toString()}\nA prompt holds who the user is whatever is asked: it knows more than the question needs.`;
}

for (const report of [reportLocomo, reportMadial, reportPrecision]) console.log(`${await report()}\n`);
if (failures.length > 0) console.log(failures.join("\n"));
process.exitCode = failures.length === 0 ? 0 : 1;
