/** `npm run bench`: start of the program, and cost of a turn; ratios to read, nothing that passes or fails. */
import { Command } from "commander";
import { startBench } from "./start-bench.ts";
import { turnBench } from "./turn-bench.ts";

const program = new Command("npm run bench --")
  .description("Measures the start of the terminal program and the cost of a turn.")
  .option("--full", "also a conversation of 1,000 turns, which takes minutes")
  .parse();

const { full = false } = program.opts<{ full?: boolean }>();
console.log(await startBench());
console.log(await turnBench(full ? [10, 100, 1000] : [10, 100]));
console.log(
  "The plain agent gives its model the whole conversation and keeps every checkpoint; Lily gives it what fits the budget.",
);
