/** Which content a person may send: text within a limit, and pictures and files within theirs. */
import { LilyError } from "#src/kernel/errors.ts";
import { toStorableText } from "#src/kernel/json.ts";
import { readInboundPart, tooLarge, type InboundAttachment, type InboundPart } from "./inbound-part.ts";

/** Limits of a message. */
export interface InboundLimits {
  /** Longest text in UTF-16 code units. */
  readonly messageCharacters: number;
  /** Most bytes of pictures and files in one message. */
  readonly attachmentBytes: number;
}

/** What a message says and carries. */
export interface InboundContent {
  readonly text: string;
  readonly attachments: readonly InboundAttachment[];
}

/** Pictures and files in one message. */
const MAX_ATTACHMENTS = 20;

/**
 * The content of an inbound message: a string, or parts of text, pictures, recordings and files. One that carries
 * something needs no text.
 *
 * @throws {LilyError} `message_blank`, `message_invalid` or `message_too_large`; nothing was stored.
 */
export function parseInbound(content: unknown, limits: InboundLimits): InboundContent {
  const parts = partsOf(content, limits.attachmentBytes);
  const texts = parts.flatMap((part) => ("text" in part ? [part.text] : []));
  const attachments = parts.flatMap((part) => ("text" in part ? [] : [part]));
  const text = checkText(texts.join("\n"), limits.messageCharacters, attachments.length > 0);
  checkAttachments(attachments, limits.attachmentBytes);
  return { text, attachments };
}

function partsOf(content: unknown, maxBytes: number): InboundPart[] {
  if (typeof content === "string") return [{ text: content }];
  if (Array.isArray(content)) return content.map((part, index) => readInboundPart(part, index + 1, maxBytes));
  const found = content === null ? "null" : typeof content;
  throw new LilyError("message_invalid", `the message content is ${found}, not text`, {
    next: "Send a string, or a list of parts. Nothing was stored.",
  });
}

function checkText(given: string, limit: number, mayBeBlank: boolean): string {
  const text = toStorableText(given);
  if (text.length > limit) {
    throw new LilyError(
      "message_too_large",
      `the message has ${text.length} characters; the limit is ${limit}`,
      {
        next: "Send it in pieces. It was not stored.",
      },
    );
  }
  if (text.trim() !== "") return text;
  if (mayBeBlank) return "";
  throw new LilyError("message_blank", "the message is blank", {
    next: "Write something; nothing was stored.",
  });
}

function checkAttachments(attachments: readonly InboundAttachment[], maxBytes: number): void {
  const bytes = attachments.reduce((sum, attachment) => sum + (attachment.bytes?.length ?? 0), 0);
  if (bytes > maxBytes) throw tooLarge("the pictures and files of the message have", bytes, maxBytes);
  if (attachments.length <= MAX_ATTACHMENTS) return;
  throw new LilyError(
    "message_too_large",
    `the message has ${attachments.length} pictures and files; the limit is ${MAX_ATTACHMENTS}`,
    { next: "Send them in several messages. Nothing was stored." },
  );
}
