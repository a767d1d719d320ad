/** `npm run bench`: start of the program, and cost of a turn; numbers and targets to read, no exit code. */
import { Command } from "commander";
import { benchPlan, type BenchSize } from "./bench-plan.ts";
import { benchTables } from "./bench-tables.ts";
import { startBench } from "./start-bench.ts";
import { targetsOf } from "./targets.ts";
import { turnBench } from "./turn-bench.ts";

interface Options {
  readonly quick?: boolean;
  readonly full?: boolean;
  readonly json?: boolean;
}

const program = new Command("npm run bench --")
  .description("Measures the start of the terminal program and the cost of a turn, to 1,000 turns.")
  .option("--quick", "to 100 turns, without tools, and not the start of the program")
  .option("--full", "to 5,000 turns; takes many minutes")
  .option("--json", "print the cost of turns as one JSON document")
  .parse();

const { quick = false, full = false, json = false } = program.opts<Options>();
const size: BenchSize = quick ? "quick" : full ? "full" : "usual";
// Standard output is for the results alone.
const onProgress = (text: string): void => void process.stderr.write(`${text}\n`);

if (size !== "quick" && !json) console.log(`${await startBench()}\n`);
const result = await turnBench(benchPlan(size), onProgress);
console.log(json ? JSON.stringify({ ...result, targets: targetsOf(result) }) : benchTables(result));
