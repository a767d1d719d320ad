/** Starts a program in an empty home and measures how long it takes to its end, or to something that it says. */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A program, and what is waited for. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  /** Measured up to this output; without it, to the end of the program. */
  readonly until?: RegExp;
}

/** A program that has not come to its point by then is hanging. */
const LIMIT_MS = 30_000;

/** Ends a conversation on a terminal: Ctrl-D. */
const LEAVE = "\u0004";

/** Milliseconds from starting the program. Rejects when it cannot be started, fails, or ends too early. */
export async function programTime(program: Program): Promise<number> {
  const home = mkdtempSync(join(tmpdir(), "lily-start-"));
  const env = { ...process.env, LILY_HOME: home, LILY_TIMING: "1", OPENAI_API_KEY: "" };
  const startedMs = performance.now();
  const child = spawn(program.command, program.args, { cwd: home, env });
  const limit = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
  try {
    return (await (program.until === undefined ? toEnd(child) : toOutput(child, program.until))) - startedMs;
  } finally {
    clearTimeout(limit);
    rmSync(home, { recursive: true, force: true });
  }
}

/** The moment at which the program ended well. */
async function toEnd(child: ChildProcessWithoutNullStreams): Promise<number> {
  child.stdin.end();
  const exitCode = await ended(child);
  if (exitCode !== 0) throw new Error(`it ended with ${exitCode ?? "a signal"}`);
  return performance.now();
}

/** The moment at which the program had said `wanted`; it is asked to leave afterwards. */
async function toOutput(child: ChildProcessWithoutNullStreams, wanted: RegExp): Promise<number> {
  const end = ended(child);
  const early = end.then(() => Promise.reject(new Error(`it ended without saying ${wanted.source}`)));
  await Promise.race([said(child, wanted), early]);
  const reachedMs = performance.now();
  early.catch(() => undefined);
  child.stdin.end(LEAVE);
  await end;
  return reachedMs;
}

function ended(child: ChildProcessWithoutNullStreams): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
}

function said(child: ChildProcessWithoutNullStreams, wanted: RegExp): Promise<void> {
  return new Promise((resolve) => {
    let seen = "";
    const take = (chunk: Buffer): void => {
      seen += chunk.toString();
      if (wanted.test(seen)) resolve();
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
  });
}
