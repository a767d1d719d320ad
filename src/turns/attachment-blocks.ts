/** Attachments as blocks of a LangChain message: by reference in the state, with their bytes in what a model is sent. */
import type { ContentBlock, MessageContent } from "@langchain/core/messages";
import { z } from "zod";
import type { Blob } from "#src/sessions/blobs.ts";
import {
  attachmentKindSchema,
  attachmentSchema,
  attachmentText,
  isStored,
  type Attachment,
  type StoredAttachment,
} from "#src/sessions/attachment.ts";

const PREFIX = "lily:sha256:";

/** A block that names what is stored; LangChain's standard form for content that lies elsewhere. */
const referenceSchema = z.object({
  type: attachmentKindSchema,
  mimeType: z.string(),
  fileId: z.string().startsWith(PREFIX),
  metadata: z.object({ bytes: z.int(), name: z.string().optional() }),
});

const linkSchema = z.object({ type: attachmentKindSchema, url: z.string() });

/** The attachment of a block as {@link contentOf} writes it; `undefined` for every other block. */
export function readBlock(block: unknown): Attachment | undefined {
  const reference = referenceSchema.safeParse(block);
  if (reference.success) return attachmentSchema.safeParse(storedBy(reference.data)).data;
  const link = linkSchema.safeParse(block);
  return link.success ? { kind: link.data.type, url: link.data.url } : undefined;
}

function storedBy({ type, mimeType, fileId, metadata }: z.infer<typeof referenceSchema>): object {
  const { bytes, name } = metadata;
  const sha256 = fileId.slice(PREFIX.length);
  return { kind: type, mimeType, sha256, bytes, ...(name === undefined ? {} : { name }) };
}

/** The attachments in a message's content. */
export function attachmentsOf(content: unknown): Attachment[] {
  return Array.isArray(content) ? content.flatMap((block) => readBlock(block) ?? []) : [];
}

/** Text and attachments as the content of a message; text alone stays a string. */
export function contentOf(text: string, attachments: readonly Attachment[] = []): MessageContent {
  if (attachments.length === 0) return text;
  return [...textBlocks(text), ...attachments.map(referenceBlock)];
}

/** Most bytes of pictures and files that a message holds for pages; what is bigger is told in words there. */
const SHOWN_BYTES = 1_000_000;

/** The same for pages: pictures and files that they can show stand in it with their bytes, all else in words. */
export async function pageContent(
  text: string,
  attachments: readonly Attachment[],
  read: (attachment: StoredAttachment) => Promise<Uint8Array | undefined>,
): Promise<MessageContent> {
  let room = SHOWN_BYTES;
  const blocks: ContentBlock[] = [];
  for (const attachment of attachments) {
    const isFit = isStored(attachment) && isShownByPages(attachment) && attachment.bytes <= room;
    const bytes = isFit ? await read(attachment) : undefined;
    if (bytes !== undefined) room -= bytes.length;
    blocks.push(
      bytes === undefined
        ? { type: "text", text: attachmentText(attachment) }
        : { ...referenceBlock(attachment), data: Buffer.from(bytes).toString("base64") },
    );
  }
  return [...textBlocks(text), ...blocks];
}

const isShownByPages = ({ kind, mimeType }: StoredAttachment): boolean =>
  kind === "image" || mimeType === "application/pdf";

/** The same for a model that is shown text alone. */
export function describedContent(text: string, attachments: readonly Attachment[]): string {
  const described = attachments.map(attachmentText).join("\n");
  return text.trim() === "" ? described : `${text}\n${described}`;
}

/** The same for a model that is shown what is attached; bytes that are gone are told in words. */
export function resolvedContent(
  text: string,
  attachments: readonly { readonly attachment: Attachment; readonly blob: Blob | undefined }[],
): MessageContent {
  return [...textBlocks(text), ...attachments.map(({ attachment, blob }) => resolvedBlock(attachment, blob))];
}

function textBlocks(text: string): ContentBlock[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

function referenceBlock(attachment: Attachment): ContentBlock {
  if (!isStored(attachment)) return { type: attachment.kind, url: attachment.url };
  const { kind, mimeType, sha256, bytes, name } = attachment;
  // Pages look for the name of a file under another key than that of a picture.
  const metadata = {
    bytes,
    ...(name === undefined ? {} : { name }),
    ...(name === undefined || kind !== "file" ? {} : { filename: name }),
  };
  return { type: kind, mimeType, fileId: `${PREFIX}${sha256}`, metadata };
}

/** In the form that every provider of LangChain converts to its own. */
function resolvedBlock(attachment: Attachment, blob: Blob | undefined): ContentBlock {
  if (!isStored(attachment)) return linkBlock(attachment);
  if (blob === undefined)
    return { type: "text", text: `${attachmentText(attachment)} (its content is gone)` };
  const data = Buffer.from(blob.bytes).toString("base64");
  const { kind, mimeType } = attachment;
  return { type: kind, source_type: "base64", mime_type: mimeType, data, ...nameOf(attachment) };
}

/** Providers fetch pictures; of other addresses only the text goes out. */
function linkBlock(attachment: Extract<Attachment, { url: string }>): ContentBlock {
  return attachment.kind === "image"
    ? { type: "image", source_type: "url", url: attachment.url }
    : { type: "text", text: attachmentText(attachment) };
}

function nameOf({ kind, name }: StoredAttachment): { metadata?: { filename: string } } {
  return kind === "file" ? { metadata: { filename: name ?? "file" } } : {};
}
