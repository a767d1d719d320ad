/** How long the terminal program takes to a prompt and to a first answer, next to a bare Node. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import Table from "cli-table3";
import { errorMessage } from "#src/kernel/errors.ts";
import { msText, percentile, ratioText } from "./measure.ts";
import { programTime, type Program } from "./program-time.ts";

const LILY = fileURLToPath(new URL("../../src/cli/lily.mjs", import.meta.url));

/** Runs of each program; the middle one counts. */
const RUNS = 5;

const NODE = process.execPath;

/** Everything is measured against the first, which must be there. */
const PROGRAMS: readonly (Program & { readonly what: string })[] = [
  { what: "node -e 0", command: NODE, args: ["-e", "0"] },
  { what: "lily --version, to the end", command: NODE, args: [LILY, "--version"] },
  {
    what: "lily, to the prompt",
    // A prompt is shown on a terminal only; `script` of util-linux lends one.
    command: "script",
    args: ["-qec", `"${NODE}" "${LILY}"`, "/dev/null"],
    // What the program writes once it waits for a line, when LILY_TIMING is set.
    until: /prompt after \d+ ms/u,
  },
  { what: "lily ask, to the end of the first answer", command: NODE, args: [LILY, "ask", "hello"] },
];

/** Measures all programs and gives back the table. */
export async function startBench(): Promise<string> {
  if (!existsSync(LILY)) return "Start of the terminal program: not yet, src/cli/lily.mjs is not there.";
  const table = new Table({
    head: ["what", "median", "ratio to node"],
    colAligns: ["left", "right", "right"],
    style: { head: [], border: [], compact: true },
  });
  const medians: (number | Error)[] = [];
  for (const program of PROGRAMS) medians.push(await medianOf(program).catch(asError));
  for (const [index, { what }] of PROGRAMS.entries())
    table.push([what, ...cellsOf(medians[index], medians[0])]);
  return `Start of the terminal program, median of ${RUNS}, an empty home each\n${table.toString()}`;
}

function cellsOf(median: number | Error | undefined, base: number | Error | undefined): [string, string] {
  if (typeof median !== "number") return [`not measured: ${errorMessage(median)}`, ""];
  return [msText(median), typeof base === "number" ? ratioText(median, base) : ""];
}

function asError(error: unknown): Error {
  return new Error(errorMessage(error));
}

async function medianOf(program: Program): Promise<number> {
  const times: number[] = [];
  while (times.length < RUNS) times.push(await programTime(program));
  return percentile(times, 0.5);
}
