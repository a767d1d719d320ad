/** `lily ask`, one message and its reply; and messages from a pipe or file, one a line. */
import { buffer as readAll } from "node:stream/consumers";
import { decodeText } from "#src/kernel/decode-text.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { type CliContext, type CliOptions, isInteractive } from "./context.ts";
import { linesOf, refusedLine } from "./input/piped-lines.ts";
import { withEngine } from "./with-engine.ts";
import type { Engine } from "./engine.ts";
import { screenOf } from "./screen.ts";

/** Sends `words`, or what standard input says when there are none or only `-`. Returns the exit code. */
export async function ask(
  context: CliContext,
  options: CliOptions,
  words: readonly string[],
): Promise<number> {
  const content = await messageOf(context, words);
  return withEngine(context, options, async (engine, stop) => {
    const request = {
      sessionKey: options.key ?? engine.defaultKey,
      content,
      stop,
      ...(options.deliveryId === undefined ? {} : { deliveryId: options.deliveryId }),
    };
    if (isInteractive(context) && !options.json) return showLive(engine, context, request);
    const { writeReply } = await import("./plain-reply.ts");
    const { sendUnasked } = await import("./approval.ts");
    return writeReply(await sendUnasked(engine, request), lineOutput(context), options);
  });
}

/** Shows the answer as it comes. Returns the exit code. */
async function showLive(
  engine: Engine,
  { stdout, stderr, env }: CliContext,
  request: Parameters<Engine["send"]>[0],
): Promise<number> {
  const { createActivity, noActivity } = await import("./activity.ts");
  const { TurnView } = await import("./turn-view.ts");
  const { exitCodeOf } = await import("#src/kernel/envelope.ts");
  const view = new TurnView({
    write: (text) => void stdout.write(text),
    screen: screenOf(stdout, env),
    activity: stderr.isTTY ? createActivity(stderr, screenOf(stderr, env)) : noActivity,
  });
  const { sendUnasked } = await import("./approval.ts");
  const reply = await sendUnasked(engine, { ...request, onEvent: view.onEvent });
  view.finish(reply);
  return exitCodeOf(reply.envelope);
}

/** Standard output and error as a line output. */
export function lineOutput({ stdout, stderr }: CliContext) {
  return { out: (text: string) => void stdout.write(text), error: (text: string) => void stderr.write(text) };
}

async function messageOf({ stdin, stderr }: CliContext, words: readonly string[]): Promise<string> {
  const isGiven = words.length > 0 && !(words.length === 1 && words[0] === "-");
  if (isGiven) return words.join(" ");
  if (stdin.isTTY) stderr.write("Write the message, then Ctrl-D.\n");
  // The line break that ends a file is not part of the message.
  const { text, problem, next } = decodeText(await readAll(stdin));
  if (text !== undefined) return text.replace(/\r?\n$/u, "");
  throw new LilyError("message_invalid", `the message ${problem}`, { next: `${next} Nothing was stored.` });
}

/** Answers every line that is not blank; one that is no text is refused. Returns the exit code of the last reply that failed, or 0. */
export async function pipe(context: CliContext, options: CliOptions): Promise<number> {
  return withEngine(context, options, async (engine, stop) => {
    const { writeReply } = await import("./plain-reply.ts");
    const { sendUnasked } = await import("./approval.ts");
    let lastFailure = 0;
    for await (const line of linesOf(context.stdin, stop)) {
      if (line.text?.trim() === "") continue;
      const sessionKey = options.key ?? engine.defaultKey;
      const reply = await (line.text === undefined
        ? refusedLine(line)
        : sendUnasked(engine, { sessionKey, content: line.text, stop }));
      const exitCode = writeReply(reply, lineOutput(context), options);
      if (exitCode !== 0) lastFailure = exitCode;
      if (stop.aborted) break;
    }
    return lastFailure;
  });
}
