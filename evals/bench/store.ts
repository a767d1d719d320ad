/** `npx tsx evals/bench/store.ts`: what the store takes for its operations; numbers to read, no exit code. */
import { Command } from "commander";
import { recallBench, recallTable, type RecallResult } from "./recall-bench.ts";
import { storeBench, type StoreResult } from "./store-bench.ts";
import { storeTables } from "./store-tables.ts";

const program = new Command("npx tsx evals/bench/store.ts")
  .description("Measures put, get, lists and searches of the SQLite store at 1,000 and 10,000 records.")
  .option("--full", "also 100,000 records; takes minutes and 700 MB of disk")
  .option("--recall", "only what memory takes of a turn")
  .option("--json", "print one JSON document")
  .parse();

const options = program.opts<{ full?: boolean; recall?: boolean; json?: boolean }>();
const tell = (text: string): void => void process.stderr.write(`${text}\n`);
const recall: RecallResult[] = [];
for (const [facts, turns] of [
  [100, 2_000],
  [1_000, 2_000],
  [10_000, 0],
  [10_000, 50_000],
] as const) {
  tell(`memory with ${facts} facts beside ${turns} turns`);
  recall.push(...(await recallBench(facts, turns)));
}
const sizes = options.full === true ? [1_000, 10_000, 100_000] : [1_000, 10_000];
const results: StoreResult[] = [];
for (const records of options.recall === true ? [] : sizes) results.push(await storeBench(records, tell));
if (options.json === true) console.log(JSON.stringify({ recall, store: results }));
else console.log([recallTable(recall), ...(results.length > 0 ? [storeTables(results)] : [])].join("\n\n"));
