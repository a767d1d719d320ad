/**
 * `npm run faults [-- scenarios] [parts]`: breaks Lily at every call it makes and checks that nothing was lost, doubled or
 * left half done. Without parts, all of them. Exit code 1 when something does not hold.
 */
import { Command } from "commander";
import { z } from "zod";
import { bundle } from "./bundle.ts";
import type { CrowdPlan } from "./crowd.ts";
import { checkPoints, crowdPart, diskPart, errorsPart, imagesPart, killsPart, upkeepParts } from "./parts.ts";
import { countPoints, readPointsFile, writePointsFile } from "./points-file.ts";
import { resultTable, violationText } from "./report.ts";
import { SCENARIOS, scenarioNamed, type Scenario } from "./scenarios.ts";
import { cleanRun } from "./images.ts";
import { UPKEEP_CASES } from "./upkeep-cases.ts";
import { commandFor, type PartResult } from "./violation.ts";

const SCENARIO_PARTS = ["images", "points", "errors", "disk"] as const;
const UPKEEP = "upkeep";
const CROWD_PARTS = ["race", "loop", "clock", "processes"] as const;

const number = z.coerce.number().int().min(1);
const optionsSchema = z.object({
  images: z.boolean().optional(),
  points: z.boolean().optional(),
  errors: z.boolean().optional(),
  disk: z.boolean().optional(),
  upkeep: z.boolean().optional(),
  race: z.boolean().optional(),
  loop: z.boolean().optional(),
  clock: z.boolean().optional(),
  processes: z.union([z.literal(true), number]).optional(),
  messages: number.optional(),
  keys: number.optional(),
  seed: number.optional(),
  at: z.string().optional(),
  fault: z.string().optional(),
  onePerState: z.boolean().default(false),
  update: z.boolean().default(false),
});

type Options = z.infer<typeof optionsSchema>;

const program = new Command("faults")
  .argument("[scenarios...]", `of ${SCENARIOS.map(({ name }) => name).join(", ")}`)
  .option("--images", "recover from every state of the files, in this process")
  .option("--points", "kill a process by SIGKILL before and after every call")
  .option("--one-per-state", "with --points: one point for each state of the files")
  .option("--errors", "SQLITE_BUSY and SQLITE_FULL at every writing statement")
  .option("--disk", "files that may not grow")
  .option("--upkeep", "backup, restore, repair, erasing and migration: killed and without room at every call")
  .option("--race", "two processes on one key, which kill themselves at points chosen by the seed")
  .option("--loop", "one process that is killed from outside thirty times")
  .option("--clock", "two processes whose clocks jump")
  .option("--processes [count]", "many processes on few keys (8)")
  .option("--messages <count>", "messages of each process")
  .option("--keys <count>", "keys of the processes (3)")
  .option("--seed <number>", "repeats a choice of points and moments")
  .option("--at <point>", "with --points or --errors: this point alone")
  .option("--fault <name>", "with --errors: this fault alone")
  .option("--update", "rewrite points.json")
  .parse();

/** Runs what was asked for. */
async function main(): Promise<void> {
  const options = optionsSchema.parse(program.opts());
  const scenarios = program.args.length === 0 ? SCENARIOS : program.args.map(scenarioNamed);
  if (options.update) return update(scenarios);
  const asked = ([...SCENARIO_PARTS, UPKEEP, ...CROWD_PARTS] as const).filter(
    (part) => options[part] !== undefined,
  );
  const wants: Wants = (part) =>
    asked.length === 0
      ? scenarios === SCENARIOS || SCENARIO_PARTS.some((own) => own === part)
      : asked.includes(part);
  const results: PartResult[] = [];
  const onResult = (result: PartResult): void => {
    results.push(result);
    progress(`${result.part} ${result.subject}: ${result.violations.length} violations\n`);
  };
  if (SCENARIO_PARTS.some(wants)) {
    const worker = wants("points") ? bundle("worker") : "";
    for (const scenario of scenarios) await runScenario(scenario, options, { wants, worker, onResult });
  }
  if (wants(UPKEEP))
    for (const upkeep of UPKEEP_CASES) for (const part of await upkeepParts(upkeep)) onResult(part);
  if (CROWD_PARTS.some(wants)) await runCrowds(options, wants, onResult);
  const violations = results.flatMap((result) => result.violations);
  console.log(resultTable(results));
  if (violations.length > 0) console.log(violationText(violations));
  process.exitCode = violations.length > 0 ? 1 : 0;
}

async function update(scenarios: readonly Scenario[]): Promise<void> {
  const counts = { ...readPointsFile() };
  for (const scenario of scenarios) counts[scenario.name] = countPoints((await cleanRun(scenario)).points);
  writePointsFile(counts);
  console.log(`points.json has the points of ${Object.keys(counts).length} scenarios`);
}

type Wants = (
  part: (typeof SCENARIO_PARTS)[number] | (typeof CROWD_PARTS)[number] | typeof UPKEEP,
) => boolean;

async function runScenario(
  scenario: Scenario,
  options: Options,
  on: { readonly wants: Wants; readonly worker: string; readonly onResult: (result: PartResult) => void },
): Promise<void> {
  const { wants, worker, onResult } = on;
  const { run, result } = await checkPoints(scenario);
  onResult(result);
  if (wants("images")) onResult(await imagesPart(scenario, run));
  if (wants("points")) {
    const onDone = (done: number): void => progress(`${scenario.name}: ${done} points\r`);
    onResult(await killsPart(scenario, run, { ...options, program: worker, onDone }));
  }
  if (wants("errors")) for (const part of await errorsPart(scenario, run, options)) onResult(part);
  if (wants("disk") && scenario.leaves === "turn" && scenario.name !== "repeat" && !scenario.isShort)
    onResult(await diskPart(scenario));
}

async function runCrowds(
  options: Options,
  wants: Wants,
  onResult: (result: PartResult) => void,
): Promise<void> {
  const client = bundle("client");
  const seed = options.seed ?? Math.floor(Math.random() * 1_000_000) + 1;
  for (const part of CROWD_PARTS.filter(wants)) {
    const plan = planOf(part, options, seed);
    const args = [`--${part}`, ...(part === "processes" ? [String(plan.processes)] : [])];
    const sizes = ["--messages", String(plan.messages), "--keys", String(plan.keys), "--seed", String(seed)];
    progress(`${part}, seed ${seed}\n`);
    onResult(await crowdPart(part, plan, client, commandFor(...args, ...sizes)));
  }
}

function planOf(part: (typeof CROWD_PARTS)[number], options: Options, seed: number): CrowdPlan {
  const { messages = 0, keys = 0 } = options;
  const plan = { seed, jumps: false, keys: keys || 1 };
  switch (part) {
    case "race":
      return { ...plan, processes: 2, messages: messages || 30, kills: "points", killCount: 12 };
    case "loop":
      return { ...plan, processes: 1, messages: messages || 150, kills: "outside", killCount: 30 };
    case "clock":
      return { ...plan, processes: 2, messages: messages || 60, kills: "points", killCount: 4, jumps: true };
    case "processes": {
      const processes = typeof options.processes === "number" ? options.processes : 8;
      return { ...plan, processes, messages: messages || 200, keys: keys || 3, kills: "none", killCount: 0 };
    }
  }
}

function progress(text: string): void {
  process.stderr.write(text);
}

await main();
