/** Messages from a pipe or file: one a line, answered in order. */
import { createInterface } from "node:readline";
import { lineOutput } from "./ask.ts";
import type { CliContext, CliOptions } from "./context.ts";
import { withEngine } from "./with-engine.ts";

/** Answers every line that is not blank. Returns the exit code of the last reply that failed, or 0. */
export async function pipe(context: CliContext, options: CliOptions): Promise<number> {
  return withEngine(context, options, async (engine, stop) => {
    const { writeReply } = await import("./plain-reply.ts");
    const lines = createInterface({
      input: context.stdin,
      crlfDelay: Number.POSITIVE_INFINITY,
      terminal: false,
    });
    stop.addEventListener("abort", () => lines.close());
    let lastFailure = 0;
    for await (const content of lines) {
      if (content.trim() === "") continue;
      const sessionKey = options.key ?? engine.defaultKey;
      const reply = await engine.send({ sessionKey, content, stop });
      const exitCode = writeReply(reply, lineOutput(context), options);
      if (exitCode !== 0) lastFailure = exitCode;
      if (stop.aborted) break;
    }
    return lastFailure;
  });
}
