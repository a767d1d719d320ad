/** `lily ask`, one message and its reply; and messages from a pipe or file, one a line. */
import { buffer as readAll } from "node:stream/consumers";
import { decodeText } from "#src/kernel/decode-text.ts";
import { exitCodeOf, refused } from "#src/kernel/envelope.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { refusal, withText, type TurnReply } from "#src/turns/turn-reply.ts";
import { activityOn } from "./activity.ts";
import { sendUnasked } from "./approval.ts";
import { type CliContext, isInteractive } from "./context.ts";
import { linesOf } from "./input/piped-lines.ts";
import { printable } from "./printable.ts";
import { renderEnvelope } from "./render/render-envelope.ts";
import { plainScreen, screenOf } from "./screen.ts";
import { TurnView } from "./turn-view.ts";
import { withEngine } from "./with-engine.ts";

/** Sends `words`, or what standard input says when there are none or only `-`. Returns the exit code. */
export async function ask(context: CliContext, words: readonly string[]): Promise<number> {
  const content = await messageOf(context, words);
  const { stdout, env, deliveryId } = context;
  return withEngine(context, async (engine, stop) => {
    const request = { content, stop, ...(deliveryId === undefined ? {} : { deliveryId }) };
    if (!isInteractive(context)) return writeReply(context, await sendUnasked(engine, request));
    const view = new TurnView({
      write: (text) => void stdout.write(text),
      screen: screenOf(stdout, env),
      activity: activityOn(context),
    });
    const reply = await sendUnasked(engine, { ...request, onEvent: view.onEvent });
    view.finish(reply);
    return exitCodeOf(reply.envelope);
  });
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

/**
 * Answers every line that is not blank; one that is no text is refused: stored, it would be other letters than were
 * written. Returns the exit code of the last reply that failed, or 0.
 */
export async function pipe(context: CliContext): Promise<number> {
  return withEngine(context, async (engine, stop) => {
    let lastFailure = 0;
    for await (const { text, problem, next } of linesOf(context.stdin, stop)) {
      if (text?.trim() === "") continue;
      const reply = await (text === undefined
        ? refusal(
            refused("message_invalid", `the line ${problem}`, {
              next: `${next} Nothing of the line was stored.`,
            }),
          )
        : sendUnasked(engine, { content: text, stop }));
      lastFailure = writeReply(context, reply) || lastFailure;
      if (stop.aborted) break;
    }
    return lastFailure;
  });
}

/** Writes the reply as lines: what was asked for to the output, a refusal or failure to the error stream. Returns the exit code. */
function writeReply({ stdout, stderr, json }: CliContext, reply: TurnReply): number {
  const { announcement, notice, envelope } = reply;
  if (json) stdout.write(`${JSON.stringify(withText(reply))}\n`);
  else {
    for (const said of [announcement, notice])
      if (said !== undefined && said !== "") stdout.write(`${printable(said).trim()}\n`);
    (envelope.ok ? stdout : stderr).write(`${renderEnvelope(envelope, plainScreen())}\n`);
  }
  return exitCodeOf(envelope);
}
