/** The command line of the evals: which suites run on which runner, and how the results are shown. */
import { Command, CommanderError } from "commander";
import type { Suite } from "./eval-case.ts";
import { countResults, suiteTable, summaryLine } from "./result-table.ts";
import { runSuite, type SuiteResult } from "./run-suite.ts";
import type { OpenRunner, Runner, RunnerOptions } from "./runner.ts";

/** What the command line chooses from, and where it writes. */
export interface EvalCommandDeps {
  readonly suites: readonly Suite[];
  readonly runners: Readonly<Record<string, (options: RunnerOptions) => Promise<Runner>>>;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Width of the terminal in characters. */
  readonly columns?: number | undefined;
}

interface Chosen {
  readonly suites: readonly Suite[];
  readonly open: OpenRunner;
  readonly json: boolean;
}

interface EvalOptions extends RunnerOptions {
  readonly json?: boolean;
  readonly runner: string;
}

/** Runs the evals that `args` (without program and script) ask for. Exit code: 0 all passed, 1 failures, 2 usage. */
export async function runEvalCommand(args: readonly string[], deps: EvalCommandDeps): Promise<number> {
  const chosen = choose(args, deps);
  if (typeof chosen === "number") return chosen;
  const results: SuiteResult[] = [];
  for (const suite of chosen.suites) {
    const result = await runSuite(suite, chosen.open);
    results.push(result);
    if (!chosen.json) deps.out(suiteTable(result, deps.columns));
  }
  const summary = countResults(results);
  deps.out(chosen.json ? JSON.stringify({ suites: results, summary }, null, 2) : summaryLine(results));
  return summary.failed === 0 ? 0 : 1;
}

/** What was asked for, or the exit code when it cannot be. */
function choose(args: readonly string[], deps: EvalCommandDeps): Chosen | number {
  const program = programOf(deps);
  try {
    program.parse(args, { from: "user" });
    const { json = false, runner, ...where } = program.opts<EvalOptions>();
    const openAt = deps.runners[runner];
    if (openAt === undefined)
      return refuse(deps, "runner", { asked: runner, known: Object.keys(deps.runners) });
    const known = deps.suites.map((suite) => suite.name);
    const unknown = program.args.find((name) => !known.includes(name));
    if (unknown !== undefined) return refuse(deps, "suite", { asked: unknown, known });
    const wanted = program.args.length === 0 ? known : program.args;
    const suites = deps.suites.filter((suite) => wanted.includes(suite.name));
    return { suites, open: () => openAt(where), json };
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    throw error;
  }
}

function programOf(deps: EvalCommandDeps): Command {
  return new Command("npm run eval --")
    .description("Runs evaluation suites against Lily; without a name, all of them.")
    .argument("[suite...]", `suites: ${deps.suites.map((suite) => suite.name).join(", ")}`)
    .option("--json", "print the results as JSON")
    .option("--runner <name>", `where Lily runs: ${Object.keys(deps.runners).join(", ")}`, "in-process")
    .option("--url <url>", "address of the server that a remote runner talks to")
    .option("--api-key <key>", "key that a remote runner logs in with")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => deps.out(text.trimEnd()),
      writeErr: (text) => deps.err(text.trimEnd()),
    });
}

function refuse(
  deps: EvalCommandDeps,
  what: string,
  { asked, known }: { readonly asked: string; readonly known: readonly string[] },
): number {
  deps.err(`There is no ${what} ${JSON.stringify(asked)}. Known: ${known.join(", ")}.`);
  return 2;
}
