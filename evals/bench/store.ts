/** `npx tsx evals/bench/store.ts`: what the store takes for its operations; numbers to read, no exit code. */
import { Command } from "commander";
import { storeBench, type StoreResult } from "./store-bench.ts";
import { storeTables } from "./store-tables.ts";

const program = new Command("npx tsx evals/bench/store.ts")
  .description("Measures put, get, lists and searches of the SQLite store at 1,000 and 10,000 records.")
  .option("--full", "also 100,000 records; takes minutes and 700 MB of disk")
  .option("--json", "print one JSON document")
  .parse();

const { full = false, json = false } = program.opts<{ full?: boolean; json?: boolean }>();
const results: StoreResult[] = [];
for (const records of full ? [1_000, 10_000, 100_000] : [1_000, 10_000]) {
  results.push(await storeBench(records, (text) => void process.stderr.write(`${text}\n`)));
}
console.log(json ? JSON.stringify(results) : storeTables(results));
