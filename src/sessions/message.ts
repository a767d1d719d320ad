/** The message that transcripts store, flat, provider-neutral, JSON; what it can carry beside text; and a list of messages in memory. */
import { z } from "zod";
import type { Ids } from "#src/kernel/ids.ts";

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

/** A picture, recording or file. An address is kept as it came and never fetched by us. */
export const attachmentSchema = z.union([
  storedAttachmentSchema,
  z.strictObject({ kind: attachmentKindSchema, url: z.string() }),
]);

/** A picture, recording or file of a message. */
export type Attachment = z.infer<typeof attachmentSchema>;

/** One whose bytes are stored. */
export type StoredAttachment = z.infer<typeof storedAttachmentSchema>;

/** A call that the assistant asked for; `arguments` is the JSON text of an object, as the model sent it. */
export const toolCallSchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  arguments: z.string(),
});

/** A request of the assistant to run a tool. */
export type ToolCall = z.infer<typeof toolCallSchema>;

/** Who a message may be from. */
export const ROLES = { system: "system", user: "user", assistant: "assistant", tool: "tool" } as const;

export const messageSchema = z.strictObject({
  role: z.enum(ROLES),
  /** Plain text. */
  content: z.string(),
  /** On a `tool` message: the id of the call it answers. */
  toolCallId: z.string().optional(),
  /** On an `assistant` message: the calls it asks for, in order. */
  toolCalls: z.array(toolCallSchema).optional(),
  /** What it carries beside its text, in order; of a `user` message. */
  attachments: z.array(attachmentSchema).optional(),
  /** ISO 8601 in UTC, given by the caller. Never used for ordering. */
  timestamp: z.string(),
});

/** One message of a conversation. */
export type Message = z.infer<typeof messageSchema>;

export type Role = Message["role"];

/** What a message says to people who see text alone: its text, or where it has none what it carries. */
export function spokenText(message: Pick<Message, "content" | "attachments"> | undefined): string {
  if (message === undefined) return "";
  const carried = (message.attachments ?? []).map(attachmentText).join(" ");
  return message.content.trim() === "" ? carried : message.content;
}

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

/** The messages of one conversation, in the order in which they were added. */
export interface Session {
  /** Identifier of the session, the same for its whole life. */
  id(): string;
  /** Adds a copy of `message` at the end. The timestamp is kept as given. */
  addMessage(message: Message): void;
  /** A copy of all messages; changing it does not change the session. */
  messages(): Message[];
  /** Removes all messages. */
  clear(): void;
}

/** Makes an empty session in memory. */
export function createMemorySession(ids: Pick<Ids, "uuid">): Session {
  const sessionId = ids.uuid();
  const messages: Message[] = [];
  return {
    id: () => sessionId,
    addMessage: (message) => void messages.push(structuredClone(message)),
    messages: () => structuredClone(messages),
    clear: () => void (messages.length = 0),
  };
}
