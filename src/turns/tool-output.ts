/** What a tool gave back, as text and binary parts, whatever kind of value it is. Pure. */
import { ToolMessage } from "@langchain/core/messages";
import { isLilyError } from "#src/kernel/errors.ts";
import { toStorableText } from "#src/kernel/json.ts";
import { attachmentText, isStored, sizeText, type StoredAttachment } from "#src/sessions/message.ts";
import { sha256Of } from "#src/sessions/seal.ts";
import { readInboundPart } from "./inbound.ts";

/** A binary part of an output. */
export interface BinaryOutput {
  readonly attachment: StoredAttachment;
  readonly bytes: Uint8Array;
}

/** One part of an output. */
export type OutputPart = { readonly text: string } | BinaryOutput;

/**
 * The parts of an output as LangChain's `ToolMessage` carries it: a string, or a list of content blocks. Any other list is
 * told as JSON, bytes are a file. Never throws.
 *
 * @param maxBytes longest binary part that is kept; of a longer one only its size is told
 */
export function outputParts(value: unknown, maxBytes: number): OutputPart[] {
  const content: unknown = ToolMessage.isInstance(value) ? value.content : value;
  if (content instanceof Uint8Array) return [fileOf(content, maxBytes)];
  const blocks = Array.isArray(content)
    ? content.map((block, at) => readOutputBlock(block, at + 1, maxBytes))
    : [];
  return blocks.length > 0 && blocks.every((part) => part !== undefined)
    ? blocks
    : [{ text: toStorableText(textOf(content)) }];
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  try {
    return JSON.stringify(content) ?? "";
  } catch {
    // A tool that ran is not told as failed because JSON cannot carry what it gave.
    return String(content);
  }
}

/** `undefined` when it is something else. */
function readOutputBlock(block: unknown, place: number, maxBytes: number): OutputPart | undefined {
  try {
    const part = readInboundPart(block, place, maxBytes);
    if ("text" in part) return { text: toStorableText(part.text) };
    const { attachment, bytes } = part;
    return isStored(attachment) && bytes !== undefined
      ? { attachment, bytes }
      : { text: attachmentText(attachment) };
  } catch (error) {
    if (isLilyError(error) && error.code === "message_too_large")
      return { text: `[not kept: ${error.message}]` };
    return undefined;
  }
}

function fileOf(content: Uint8Array, maxBytes: number): OutputPart {
  if (content.length === 0) return { text: "" };
  if (content.length > maxBytes)
    return { text: `[not kept: a file of ${sizeText(content.length)}; the limit is ${sizeText(maxBytes)}]` };
  const bytes = new Uint8Array(content);
  const mimeType = "application/octet-stream";
  return { bytes, attachment: { kind: "file", mimeType, sha256: sha256Of(bytes), bytes: bytes.length } };
}
