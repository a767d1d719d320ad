/** What a message can carry beside text: a reference to something that is stored beside the conversation, or an address. */
import { z } from "zod";

/** Kinds of attachments, as models know them. */
export const attachmentKindSchema = z.enum(["image", "audio", "file"]);

/** Stored once by its content, in the blobs of the owner. */
const storedAttachmentSchema = z.strictObject({
  kind: attachmentKindSchema,
  mimeType: z.string(),
  /** SHA-256 of its bytes, 64 hex digits: its key among the blobs. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/u),
  bytes: z.int().min(0),
  /** Name of a file, where the sender gave one. */
  name: z.string().optional(),
});

/** An address is kept as it came and never fetched by us. */
const linkedAttachmentSchema = z.strictObject({ kind: attachmentKindSchema, url: z.string() });

export const attachmentSchema = z.union([storedAttachmentSchema, linkedAttachmentSchema]);

/** A picture, recording or file of a message. */
export type Attachment = z.infer<typeof attachmentSchema>;

/** One whose bytes are stored. */
export type StoredAttachment = z.infer<typeof storedAttachmentSchema>;

/** Whether the bytes are stored with us. */
export function isStored(attachment: Attachment): attachment is StoredAttachment {
  return "sha256" in attachment;
}

/** What makes two attachments the same: the bytes, or the address. Names do not count. */
export function attachmentId(attachment: Attachment): string {
  return isStored(attachment) ? `sha256:${attachment.sha256}` : `url:${attachment.url}`;
}

const KIND_WORDS = { image: "picture", audio: "recording", file: "file" } as const;

/** The attachment in a few words, e.g. `[picture: image/png, 12 kB]`. */
export function attachmentText(attachment: Attachment): string {
  const word = KIND_WORDS[attachment.kind];
  if (!isStored(attachment)) return `[${word}: ${clip(attachment.url)}]`;
  const name = attachment.name === undefined ? "" : `${clip(attachment.name)}, `;
  return `[${word}: ${name}${attachment.mimeType}, ${sizeText(attachment.bytes)}]`;
}

/** A size as people say it. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  if (bytes < 1_000_000) return `${Math.round(bytes / 1000)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

function clip(text: string): string {
  return text.length > 120 ? `${text.slice(0, 120).toWellFormed()}…` : text;
}
