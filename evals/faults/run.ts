/** `npm run faults [-- --rounds 40] [--seed N]`: the kill loop, as a table. Exit code 1 when something does not hold. */
import Table from "cli-table3";
import { Command } from "commander";
import { z } from "zod";
import { killLoop } from "./kill-loop.ts";

const number = z.coerce.number().int().min(1);
const optionsSchema = z.object({ rounds: number, seed: number });

const program = new Command("faults")
  .description("Kills processes that talk to Lily at any moment, and checks what they have stored")
  .option("--rounds <count>", "kills", "40")
  .option(
    "--seed <number>",
    "chooses whom to kill and when",
    String(Math.floor(Math.random() * 1_000_000) + 1),
  )
  .parse();

const plan = { ...optionsSchema.parse(program.opts()), processes: 8, keys: 3 };
console.log(`${plan.rounds} kills, seed ${plan.seed}`);
const startedMs = performance.now();
const { keys, problems } = await killLoop(plan, (round) =>
  process.stderr.write(`\r${round} of ${plan.rounds}`),
);
process.stderr.write("\n");
const head = [
  "key",
  "processes",
  "killed",
  "acknowledged",
  "turns",
  "sessions",
  "approved",
  "cut off",
  "problems",
];
const table = new Table({ head, style: { head: [], border: [], compact: true } });
for (const { key, processes, killed, acknowledged, turns, sessions, approved, cutOff, problems: own } of keys)
  table.push([key, processes, killed, acknowledged, turns, sessions, approved, cutOff, own.length]);
console.log(table.toString());
console.log(`${((performance.now() - startedMs) / 1000).toFixed(0)} s; ${problems.length} problems`);
for (const problem of problems) console.log(`- ${problem}`);
process.exitCode = problems.length > 0 ? 1 : 0;
