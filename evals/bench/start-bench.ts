/** How long the terminal program takes to a prompt and to a first answer, next to a bare Node. */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Table from "cli-table3";
import { msText, percentile, ratioText } from "./measure.ts";

const LILY = fileURLToPath(new URL("../../src/cli/lily.mjs", import.meta.url));

/** Runs of each program; the middle one counts. */
const RUNS = 5;

/** A program that has not come to its point by then is hanging. */
const LIMIT_MS = 30_000;

/** What the program writes once it waits for a line, when `LILY_TIMING` is set. */
const PROMPT = /prompt after \d+ ms/u;

interface Started {
  readonly what: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Measured up to this output; without it, to the end of the program. */
  readonly until?: RegExp;
}

const PROGRAMS: readonly Started[] = [
  { what: "node -e 0", command: process.execPath, args: ["-e", "0"] },
  { what: "lily --version, to the end", command: process.execPath, args: [LILY, "--version"] },
  // A prompt is shown on a terminal only; `script` of util-linux lends one.
  {
    what: "lily, to the prompt",
    command: "script",
    args: ["-qec", `"${process.execPath}" "${LILY}"`, "/dev/null"],
    until: PROMPT,
  },
  {
    what: "lily ask, to the end of the first answer",
    command: process.execPath,
    args: [LILY, "ask", "hello"],
  },
];

/** Measures all programs and gives back the table. */
export async function startBench(): Promise<string> {
  if (!existsSync(LILY)) return "Start of the terminal program: not yet, src/cli/lily.mjs is not there.";
  const table = new Table({
    head: ["what", "median", "ratio to node"],
    colAligns: ["left", "right", "right"],
    style: { head: [], border: [], compact: true },
  });
  let base: number | undefined;
  for (const program of PROGRAMS) {
    const ms = await medianOf(program);
    if (typeof ms === "string") {
      table.push([program.what, ms, ""]);
      continue;
    }
    base ??= ms;
    table.push([program.what, msText(ms), ratioText(ms, base)]);
  }
  return `Start of the terminal program, median of ${RUNS}, an empty home each\n${table.toString()}`;
}

async function medianOf(program: Started): Promise<number | string> {
  const times: number[] = [];
  try {
    for (let run = 0; run < RUNS; run += 1) times.push(await timeOf(program));
  } catch (error) {
    return `not measured: ${error instanceof Error ? error.message : String(error)}`;
  }
  return percentile(times, 0.5);
}

/** Milliseconds from spawning to the awaited output, or to the end. */
async function timeOf({ command, args, until }: Started): Promise<number> {
  const home = mkdtempSync(join(tmpdir(), "lily-start-"));
  const env = { ...process.env, LILY_HOME: home, LILY_TIMING: "1", OPENAI_API_KEY: "" };
  const startedMs = performance.now();
  const child = spawn(command, args, { cwd: home, env, stdio: ["pipe", "pipe", "pipe"] });
  const ended = new Promise<void>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () => resolve());
  });
  const limit = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
  try {
    if (until === undefined) {
      await ended;
      if (child.exitCode !== 0) throw new Error(`exit code ${child.exitCode}`);
      return performance.now() - startedMs;
    }
    await Promise.race([
      outputOf(child, until),
      ended.then(() => Promise.reject(new Error("it ended before"))),
    ]);
    const ms = performance.now() - startedMs;
    // Ctrl-D leaves the conversation.
    child.stdin.end("\u0004");
    await ended;
    return ms;
  } finally {
    clearTimeout(limit);
    rmSync(home, { recursive: true, force: true });
  }
}

function outputOf(child: ReturnType<typeof spawn>, wanted: RegExp): Promise<void> {
  return new Promise((resolve) => {
    let seen = "";
    const take = (chunk: Buffer): void => {
      seen += chunk.toString();
      if (wanted.test(seen)) resolve();
    };
    child.stdout?.on("data", take);
    child.stderr?.on("data", take);
  });
}
