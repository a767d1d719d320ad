/** Which content a person may send: text within a limit, and pictures and files within theirs, in any of the usual forms. */
import { z } from "zod";
import { LilyError } from "#src/kernel/errors.ts";
import { defined, toStorableText } from "#src/kernel/json.ts";
import { attachmentKindSchema, attachmentText, isStored, type Attachment } from "#src/sessions/message.ts";
import type { BlobStore } from "#src/sessions/repository.ts";
import { sha256Of } from "#src/sessions/seal.ts";
import { readBlock } from "./langchain-messages.ts";

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
    const what = `the message has ${text.length} characters; the limit is ${limit}`;
    throw new LilyError("message_too_large", what, { next: "Send it in pieces. It was not stored." });
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

/** An attachment with its bytes, unless they are stored already or lie at an address. */
export interface InboundAttachment {
  readonly attachment: Attachment;
  readonly bytes?: Uint8Array;
}

/** What a part is. */
export type InboundPart = { readonly text: string } | InboundAttachment;

type Kind = Attachment["kind"];

/** Where the content of a part is: at an address, or here as base64. */
interface Source {
  readonly kind: Kind;
  readonly url?: string | undefined;
  readonly data?: string | Uint8Array | undefined;
  readonly mimeType?: string | undefined;
  readonly name?: string | undefined;
}

const text = z
  .object({ type: z.literal("text"), text: z.string() })
  .transform((part) => ({ text: part.text }));

/** OpenAI's forms. */
const imageUrl = z
  .object({ type: z.literal("image_url"), image_url: z.union([z.string(), z.object({ url: z.string() })]) })
  .transform(({ image_url: image }): Source => ({
    kind: "image",
    url: typeof image === "string" ? image : image.url,
  }));
const inputAudio = z
  .object({ type: z.literal("input_audio"), input_audio: z.object({ data: z.string(), format: z.string() }) })
  .transform(({ input_audio: { data, format } }): Source => ({
    kind: "audio",
    data,
    mimeType: `audio/${format}`,
  }));
const fileData = z
  .object({
    type: z.literal("file"),
    file: z.object({ file_data: z.string(), filename: z.string().optional() }),
  })
  .transform(({ file }): Source => ({ kind: "file", url: file.file_data, name: file.filename }));

/** LangChain's standard blocks, in the spelling of both of its versions. */
const standard = z
  .object({
    type: attachmentKindSchema,
    url: z.string().optional(),
    data: z.union([z.string(), z.instanceof(Uint8Array)]).optional(),
    mimeType: z.string().optional(),
    mime_type: z.string().optional(),
    metadata: z.object({ filename: z.string().optional(), name: z.string().optional() }).optional(),
  })
  .refine(({ url, data }) => (url === undefined) !== (data === undefined))
  .transform(({ type, url, data, mimeType, mime_type, metadata }): Source => ({
    kind: type,
    url,
    data,
    mimeType: mimeType ?? mime_type,
    name: metadata?.filename ?? metadata?.name,
  }));

const partSchema = z.union([text, imageUrl, inputAudio, fileData, standard]);

/**
 * Reads a part.
 *
 * @param place its number in the message, from 1
 * @param maxBytes longest content
 * @throws {LilyError} `message_invalid`, `message_too_large`
 */
export function readInboundPart(part: unknown, place: number, maxBytes: number): InboundPart {
  const kept = readBlock(part);
  if (kept !== undefined && !("url" in kept)) return { attachment: kept };
  const parsed = partSchema.safeParse(part);
  if (!parsed.success) throw invalid(place, "is neither text nor a picture, recording or file");
  return "text" in parsed.data ? parsed.data : readSource(parsed.data, place, maxBytes);
}

function readSource(source: Source, place: number, maxBytes: number): InboundAttachment {
  const { kind, url } = source;
  if (url !== undefined && !url.startsWith("data:"))
    return { attachment: { kind, url: address(url, place) } };
  const inline = url === undefined ? source : { ...source, ...readDataUrl(url, place) };
  const mimeType = mediaType(inline.mimeType, kind, place);
  const bytes = bytesOf(inline.data ?? "", place, maxBytes);
  const name = source.name && toStorableText(source.name).slice(0, 200).toWellFormed();
  const attachment = { kind, mimeType, sha256: sha256Of(bytes), bytes: bytes.length, ...defined({ name }) };
  return { attachment, bytes };
}

const MAX_URL = 4_096;

function address(url: string, place: number): string {
  const isWeb = URL.canParse(url) && /^https?:$/u.test(new URL(url).protocol);
  if (!isWeb || url.length > MAX_URL)
    throw invalid(place, "has an address that is not of the web, or is too long");
  return toStorableText(url);
}

function readDataUrl(url: string, place: number): { mimeType: string; data: string } {
  const [, mimeType = "", data] = /^data:([^;,]*)(?:;[^,]*)?;base64,(.*)$/su.exec(url) ?? [];
  if (data === undefined) throw invalid(place, "has a data: address without base64");
  return { mimeType, data };
}

function mediaType(given: string | undefined, kind: Kind, place: number): string {
  const type = (given ?? "").toLowerCase();
  const fits = kind === "file" || type.startsWith(`${kind}/`);
  if (fits && /^[a-z0-9.+-]+\/[a-z0-9.+-]+$/u.test(type) && type.length <= 100) return type;
  throw invalid(place, `is of type ${JSON.stringify(type.slice(0, 100))}, which is no type for ${kind}`);
}

function bytesOf(data: string | Uint8Array, place: number, maxBytes: number): Uint8Array {
  const size = typeof data === "string" ? Buffer.byteLength(data, "base64") : data.length;
  if (size > maxBytes) throw tooLarge(`part ${place} of the message has`, size, maxBytes);
  if (size === 0) throw invalid(place, "is empty");
  if (typeof data !== "string") return data;
  // `Buffer` alone would skip what is no base64, and keep something else than what was sent.
  if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/u.test(data)) throw invalid(place, "is not base64");
  return new Uint8Array(Buffer.from(data, "base64"));
}

/** The refusal of something that is too big. */
function tooLarge(what: string, bytes: number, maxBytes: number): LilyError {
  return new LilyError("message_too_large", `${what} ${bytes} bytes; the limit is ${maxBytes}`, {
    next: "Send something smaller, or raise limits.attachmentBytes in config.json. Nothing was stored.",
  });
}

function invalid(place: number, what: string): LilyError {
  return new LilyError("message_invalid", `part ${place} of the message ${what}`, {
    next: "Send text, and pictures or files as base64 with their type. Nothing was stored.",
  });
}

/**
 * Keeps the bytes, and checks that what comes as a reference is there.
 *
 * @throws {LilyError} `message_invalid` for a reference to nothing, and what the storage says
 */
export async function keepAttachments(
  blobs: BlobStore,
  owner: string,
  attachments: readonly InboundAttachment[],
): Promise<void> {
  for (const { attachment, bytes } of attachments) {
    if (!isStored(attachment)) continue;
    if (bytes !== undefined) await blobs.keep(owner, { mimeType: attachment.mimeType, bytes });
    else if ((await blobs.read(owner, attachment.sha256)) === undefined) {
      const what = `the content of ${attachmentText(attachment)} is not stored`;
      throw new LilyError("message_invalid", what, { next: "Send it itself. The message was not stored." });
    }
  }
}
