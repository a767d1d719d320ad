/** `npm run faults [-- --rounds 40] [--seed N]`: the kill loop, as a table. Exit code 1 when something does not hold. */
import Table from "cli-table3";
import { Command } from "commander";
import { killLoop } from "./kill-loop.ts";

const program = new Command("faults")
  .description("Kills processes that talk to Lily at any moment, and checks what they have stored")
  .option("--rounds <count>", "kills", Number, 40)
  .option("--seed <number>", "chooses whom to kill and when", Number, Math.ceil(Math.random() * 1_000_000))
  .parse();

const plan = { ...program.opts<{ rounds: number; seed: number }>(), processes: 8, keys: 3 };
console.log(`${plan.rounds} kills, seed ${plan.seed}`);
const startedMs = performance.now();
const { keys, problems } = await killLoop(plan, (round) =>
  process.stderr.write(`\r${round} of ${plan.rounds}`),
);
process.stderr.write("\n");
const [first] = keys;
const table = new Table({ head: Object.keys(first ?? {}), style: { head: [], border: [], compact: true } });
for (const { problems: own, ...counts } of keys) table.push([...Object.values(counts), own.length]);
console.log(table.toString());
console.log(`${((performance.now() - startedMs) / 1000).toFixed(0)} s; ${problems.length} problems`);
for (const problem of problems) console.log(`- ${problem}`);
process.exitCode = problems.length > 0 ? 1 : 0;
