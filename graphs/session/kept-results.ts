/** Tool results that are too big for a conversation: stored once beside it, named in it, read on by pages. */
import { errorMessage, isLilyError } from "#src/kernel/errors.ts";
import { sliceWhole, wholeAt } from "#src/kernel/text.ts";
import { attachmentText } from "#src/sessions/message.ts";
import type { BlobStore } from "#src/sessions/repository.ts";
import { outputParts, type OutputPart } from "#src/turns/tool-output.ts";

/** Where results are kept, and from which size on. */
export interface ResultKeeper {
  readonly blobs: BlobStore;
  readonly owner: string;
  /** The text of a result of a turn, by its name; `undefined` where there is none. */
  readonly ofTurn?: (name: string) => Promise<string | undefined>;
  readonly limits: {
    /** Longest text of a result in the conversation, in UTF-16 code units. */
    readonly toolResultCharacters: number;
    /** Longest binary part that is kept. */
    readonly attachmentBytes: number;
  };
}

/** Parts of the limit that the beginning and the end of a long text keep; the rest is for what is said between them. */
const HEAD = 0.5;
const TAIL = 0.2;

/** The text of a tool's output for the conversation. What is left out of it can be read with `read_result`. */
export async function resultText(value: unknown, keeper: ResultKeeper): Promise<string> {
  const parts = outputParts(value, keeper.limits.attachmentBytes);
  const texts = await Promise.all(parts.map((part) => partText(part, keeper)));
  return shorten(texts.join("\n"), keeper);
}

async function partText(part: OutputPart, keeper: ResultKeeper): Promise<string> {
  if ("text" in part) return part.text;
  const { attachment, bytes } = part;
  const kept = await keep(keeper, { mimeType: attachment.mimeType, bytes });
  return `${attachmentText(attachment)} ${kept}`;
}

async function shorten(text: string, keeper: ResultKeeper): Promise<string> {
  const limit = keeper.limits.toolResultCharacters;
  if (text.length <= limit) return text;
  const head = sliceWhole(text, 0, Math.floor(limit * HEAD));
  const tail = sliceWhole(text, text.length - Math.floor(limit * TAIL));
  const bytes = new TextEncoder().encode(text);
  const kept = await keep(keeper, { mimeType: "text/plain", bytes });
  const left = text.length - head.length - tail.length;
  const note = `[${left} of ${text.length} characters left out; ${kept}; go on from ${head.length}]`;
  return `${head}\n\n${note}\n\n${tail}`;
}

/** In words. A tool that ran is not told as failed because its result could not be stored. */
async function keep(keeper: ResultKeeper, blob: Parameters<BlobStore["keep"]>[1]): Promise<string> {
  try {
    return `kept as result ${await keeper.blobs.keep(keeper.owner, blob)}`;
  } catch (error) {
    if (isLilyError(error) && error.code === "lease_lost") throw error;
    return `not kept: ${errorMessage(error)}`;
  }
}

/** Which part of a kept result. */
export interface ResultPage {
  readonly name: string;
  readonly from: number;
  readonly length: number;
}

/** Room for what is said before a page. */
const PAGE_HEAD = 200;

/** A page of a kept result, never so long that it would have to be kept itself. */
export async function readResult(keeper: ResultKeeper, { name, from, length }: ResultPage): Promise<string> {
  const sha256 = name.trim().toLowerCase();
  const blob = /^[0-9a-f]{64}$/u.test(sha256) ? await keeper.blobs.read(keeper.owner, sha256) : undefined;
  const ofTurn = blob === undefined ? await keeper.ofTurn?.(name.trim()) : undefined;
  if (ofTurn !== undefined) return pageOf(ofTurn, { from, length }, keeper);
  if (blob === undefined) return `There is no result ${JSON.stringify(name.slice(0, 80))}.`;
  const text = textOf(blob.bytes, blob.mimeType);
  if (text === undefined) return `The result is ${blob.bytes.length} bytes of ${blob.mimeType}, not text.`;
  return pageOf(text, { from, length }, keeper);
}

function pageOf(text: string, { from, length }: Omit<ResultPage, "name">, keeper: ResultKeeper): string {
  const most = Math.max(2, keeper.limits.toolResultCharacters - PAGE_HEAD);
  const begin = wholeAt(text, from);
  const end = wholeAt(text, begin + Math.min(length, most), 1);
  const next = end < text.length ? `; go on from ${end}` : "";
  return `[characters ${begin} to ${end} of ${text.length}${next}]\n${text.slice(begin, end)}`;
}

function textOf(bytes: Uint8Array, mimeType: string): string | undefined {
  if (!/^text\/|[/+](?:json|xml)$/u.test(mimeType)) return undefined;
  return new TextDecoder().decode(bytes);
}
