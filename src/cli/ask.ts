/** `lily ask`, one message and its reply; and messages from a pipe or file, one a line. */
import { addAbortSignal } from "node:stream";
import { buffer as readAll } from "node:stream/consumers";
import { type Decoded, decodeText, markedEncoding } from "#src/kernel/decode-text.ts";
import { exitCodeOf, refused } from "#src/kernel/envelope.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { refusal, withText, type TurnReply } from "#src/turns/turn-reply.ts";
import { activityOn } from "./activity.ts";
import { sendUnasked } from "./approval.ts";
import { type CliContext, isInteractive } from "./context.ts";
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

/** The lines of a stream, each decoded by itself as the mark at the beginning says, until `stop`. */
async function* linesOf(input: CliContext["stdin"], stop: AbortSignal): AsyncGenerator<Decoded> {
  addAbortSignal(stop, input);
  let encoding: string | undefined;
  let held: Buffer[] = [];
  try {
    for await (const chunk of input as AsyncIterable<Buffer | string>) {
      const piece = Buffer.from(chunk as string);
      held.push(piece);
      if (!piece.includes(LINE_FEED)) continue;
      const bytes = Buffer.concat(held);
      encoding ??= markedEncoding(bytes) ?? "utf-8";
      const { lines, rest } = cutLines(bytes, encoding);
      for (const line of lines) yield* decodedLines(line, encoding);
      held = [rest];
    }
  } catch (error) {
    if (!stop.aborted) throw error;
  }
  const last = Buffer.concat(held);
  if (!stop.aborted) yield* decodedLines(last, encoding ?? markedEncoding(last) ?? "utf-8");
}

const LINE_FEED = 0x0a;

/** Cuts behind each line feed; `rest` is what comes after the last one. In UTF-16 it is one of two bytes. */
function cutLines(bytes: Buffer, encoding: string): { readonly lines: Buffer[]; readonly rest: Buffer } {
  const isWide = encoding.startsWith("utf-16");
  const isBig = encoding === "utf-16be";
  const lines: Buffer[] = [];
  let from = 0;
  for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) {
    const isOne = isBig ? at % 2 === 1 && bytes[at - 1] === 0 : at % 2 === 0 && bytes[at + 1] === 0;
    if (isWide && !isOne) continue;
    const end = at + (isWide && !isBig ? 2 : 1);
    lines.push(bytes.subarray(from, end));
    from = end;
  }
  return { lines, rest: bytes.subarray(from) };
}

/** The text of a line; a carriage return alone ends one too. */
function decodedLines(line: Buffer, encoding: string): readonly Decoded[] {
  const decoded = decodeText(line, encoding);
  return decoded.text === undefined
    ? [decoded]
    : decoded.text.split(/\r\n|[\r\n\u2028\u2029]/u).map((text) => ({ text }));
}
