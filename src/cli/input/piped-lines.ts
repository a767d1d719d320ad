/** The lines that come in by a pipe or file: bytes, cut where a line ends and decoded one by one. */
import { type Decoded, decodeText, markedEncoding } from "#src/kernel/decode-text.ts";
import type { CliContext } from "../context.ts";

/** The lines of a stream, each decoded by itself as the mark at the beginning says, until `stop`. */
export async function* linesOf(input: CliContext["stdin"], stop: AbortSignal): AsyncGenerator<Decoded> {
  const end = (): void => void input.destroy();
  stop.addEventListener("abort", end);
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
    // The stream that was destroyed above says that it ended too early.
    if (!stop.aborted) throw error;
  } finally {
    stop.removeEventListener("abort", end);
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
