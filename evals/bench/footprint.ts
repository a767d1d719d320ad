/** What a user or a reader pays beside the time of a turn: the start of the program, and the files a turn runs through. */
import { spawn } from "node:child_process";
import { Session } from "node:inspector/promises";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** What the program writes once it waits for a line, when LILY_TIMING is set. */
const PROMPT = /prompt after \d+ ms/u;

/** Milliseconds from starting `lily` to its first prompt, with the empty folder `home`. @throws when none is shown in 30 s */
export async function promptTime(home: string): Promise<number> {
  const env = { ...process.env, LILY_HOME: home, LILY_TIMING: "1", OPENAI_API_KEY: "" };
  const startedMs = performance.now();
  // A prompt is shown on a terminal only; `script` of util-linux lends one.
  const lily = `"${process.execPath}" "${ROOT}src/cli/lily.mjs"`;
  const child = spawn("script", ["-qec", lily, "/dev/null"], { cwd: home, env, timeout: 30_000 });
  let said = "";
  for await (const chunk of child.stdout) {
    said += String(chunk);
    if (!PROMPT.test(said)) continue;
    const promptMs = performance.now() - startedMs;
    child.kill();
    return promptMs;
  }
  throw new Error(`lily ended without a prompt: ${said}`);
}

/** Files under src, graphs and memory in which a function runs during `work`, with how many functions do; sorted. */
export async function filesRunBy(work: () => Promise<void>): Promise<Map<string, number>> {
  const session = new Session();
  session.connect();
  try {
    await session.post("Profiler.enable");
    // Starting it sets all counts to nothing.
    await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
    await work();
    const { result } = await session.post("Profiler.takePreciseCoverage");
    const counted = result.flatMap(({ url, functions }): [string, number][] => {
      if (!url.startsWith("file:")) return [];
      const file = relative(ROOT, fileURLToPath(url));
      const run = functions.filter(({ ranges }) => ranges.some(({ count }) => count > 0)).length;
      return /^(?:src|graphs|memory)\//u.test(file) && run > 0 ? [[file, run]] : [];
    });
    return new Map(counted.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  } finally {
    session.disconnect();
  }
}
