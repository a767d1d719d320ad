/** The one boundary between transcript messages and LangChain's: in the state with attachments by reference, for a model with their bytes. */
import {
  AIMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  type BaseMessage,
  type ContentBlock,
  type MessageContent,
} from "@langchain/core/messages";
import { z } from "zod";
import { isLilyError } from "#src/kernel/errors.ts";
import { defined, isRecord, parseJson, toStorableText, toStorableValue } from "#src/kernel/json.ts";
import {
  attachmentKindSchema,
  attachmentSchema,
  attachmentText,
  isStored,
  type Attachment,
  type StoredAttachment,
  type Message,
  type ToolCall,
} from "#src/sessions/message.ts";
import type { BlobStore } from "#src/sessions/repository.ts";

/** Where a tool said nothing. */
export const NO_OUTPUT = "(no output)";

/** Text of a message's content; parts that are not text count as nothing. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.flatMap(partText).join("\n");
}

function partText(part: unknown): string[] {
  if (typeof part === "string") return [part];
  if (typeof part !== "object" || part === null || !("text" in part) || !("type" in part)) return [];
  return part.type === "text" && typeof part.text === "string" ? [part.text] : [];
}

/** A LangChain message as a transcript stores it. Other kinds than user, assistant and tool count as system text. */
export function fromLangChain(message: BaseMessage, timestamp: string): Message {
  const content = toStorableText(contentText(message.content));
  if (HumanMessage.isInstance(message)) return fromUser(content, message, timestamp);
  if (ToolMessage.isInstance(message))
    return { role: "tool", content, toolCallId: toStorableText(message.tool_call_id), timestamp };
  if (!AIMessage.isInstance(message)) return { role: "system", content, timestamp };
  const toolCalls = callsOf(message);
  return { role: "assistant", content, ...(toolCalls.length === 0 ? {} : { toolCalls }), timestamp };
}

function fromUser(content: string, message: HumanMessage, timestamp: string): Message {
  const attachments = attachmentsOf(message.content);
  return { role: "user", content, ...(attachments.length === 0 ? {} : { attachments }), timestamp };
}

function callsOf(message: AIMessage): ToolCall[] {
  const good = (message.tool_calls ?? []).map((call, index) => ({
    id: toStorableText(call.id ?? unnamedCallId(index)),
    name: toStorableText(call.name),
    arguments: argumentsText(call.args),
  }));
  const bad = (message.invalid_tool_calls ?? []).map((call, index) => ({
    id: toStorableText(call.id ?? invalidCallId(index)),
    name: toStorableText(call.name ?? "unknown"),
    arguments: unreadableText(call.args ?? ""),
  }));
  return [...good, ...bad];
}

/** Of arguments that could not be read: enough to know them again. In UTF-16 code units. */
const MAX_UNREADABLE = 1_000;

/** What the model wrote, as the one argument of its call where it is no object: providers refuse arguments that are none. */
function unreadableText(args: string): string {
  if (args.trim() === "") return "{}";
  if (isRecord(parseJson(args))) return toStorableText(args);
  return JSON.stringify({ unreadable: toStorableText(args.slice(0, MAX_UNREADABLE)) });
}

/** JSON hides halves of surrogate pairs behind escapes, so the values are made storable, not their text. */
function argumentsText(args: unknown): string {
  try {
    return JSON.stringify(toStorableValue(args ?? {}));
  } catch {
    // Arguments that a program made may hold what JSON cannot carry; providers refuse a history without an object here.
    return "{}";
  }
}

/** The id of a call to which the model gave none, by its place among the calls of its message. */
export const unnamedCallId = (index: number): string => `call-${index + 1}`;

/** The same for a call that could not be read. */
export const invalidCallId = (index: number): string => `invalid-${index + 1}`;

/**
 * A transcript message as the state and models have it: arguments are always a JSON object, blank text is left out,
 * attachments are references.
 */
export function toLangChain(message: Message, id?: string): BaseMessage {
  const named = defined({ id });
  switch (message.role) {
    case "user":
      return new HumanMessage({ content: contentOf(message.content, message.attachments), ...named });
    case "system":
      return new SystemMessage({ content: message.content, ...named });
    case "tool":
      return new ToolMessage({
        content: message.content.trim() === "" ? NO_OUTPUT : message.content,
        tool_call_id: message.toolCallId ?? "",
        ...named,
      });
    case "assistant":
      return new AIMessage({
        content: message.content.trim() === "" ? "" : message.content,
        tool_calls: (message.toolCalls ?? []).map((call) => ({
          id: call.id,
          name: call.name,
          args: argumentsOf(call),
          type: "tool_call",
        })),
        ...named,
      });
  }
}

/** A model may send arguments that are no JSON; providers refuse a history that repeats them. */
function argumentsOf(call: ToolCall): Record<string, unknown> {
  const parsed = parseJson(call.arguments);
  return isRecord(parsed) ? { ...parsed } : {};
}

/** Messages with attachments whose content a model is shown: that of the turn in flight and the two before it. */
const SHOWN = 3;

/** Where attached content is. */
export interface AttachedContent {
  readonly blobs: Pick<BlobStore, "read">;
  readonly owner: string;
}

/**
 * The input of a model call. The attachments of the newest messages are shown with their content, older ones are named in
 * words.
 */
export async function toModelInput(
  messages: readonly BaseMessage[],
  attached: AttachedContent,
): Promise<BaseMessage[]> {
  const shown = messages.filter(({ content }) => attachmentsOf(content).length > 0).slice(-SHOWN);
  return Promise.all(
    messages.map(async (message) => {
      const attachments = attachmentsOf(message.content);
      if (attachments.length === 0) return sendable(message);
      const text = contentText(message.content);
      const content = shown.includes(message)
        ? await shownContent(text, attachments, attached)
        : describedContent(text, attachments);
      return new HumanMessage({ content, ...defined({ id: message.id }) });
    }),
  );
}

/**
 * A call that could not be read is sent with what the model wrote as its one argument, for there is a result that says so, and
 * providers refuse a result without its call, and arguments that are no JSON. Blank text and halves of surrogate pairs they refuse too.
 */
function sendable(message: BaseMessage): BaseMessage {
  if (!AIMessage.isInstance(message)) return message;
  const text = contentText(message.content);
  const isWhole = (message.invalid_tool_calls ?? []).length === 0 && text.isWellFormed();
  if (isWhole && (text === "" || text.trim() !== "")) return message;
  return toLangChain(fromLangChain(message, ""), message.id);
}

/** In the form that every provider of LangChain converts to its own. What is gone or damaged is told in words. */
async function shownContent(
  text: string,
  attachments: readonly Attachment[],
  { blobs, owner }: AttachedContent,
): Promise<MessageContent> {
  const blocks = attachments.map(async (attachment): Promise<ContentBlock> => {
    const told = { type: "text" as const, text: attachmentText(attachment) };
    if (!isStored(attachment))
      // Providers fetch pictures; of other addresses only the text goes out.
      return attachment.kind === "image" ? { type: "image", source_type: "url", url: attachment.url } : told;
    const { kind, mimeType, sha256, name = "file" } = attachment;
    const blob = await blobs.read(owner, sha256).catch((error: unknown) => {
      if (isLilyError(error) && error.code === "record_invalid") return undefined;
      throw error;
    });
    if (blob === undefined) return { ...told, text: `${told.text} (its content is gone)` };
    const data = Buffer.from(blob.bytes).toString("base64");
    const metadata = kind === "file" ? { metadata: { filename: name } } : {};
    return { type: kind, source_type: "base64", mime_type: mimeType, data, ...metadata };
  });
  return [...textBlocks(text), ...(await Promise.all(blocks))];
}

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
  return { kind: type, mimeType, sha256, bytes, ...defined({ name }) };
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

function textBlocks(text: string): ContentBlock[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

function referenceBlock(attachment: Attachment): ContentBlock {
  if (!isStored(attachment)) return { type: attachment.kind, url: attachment.url };
  const { kind, mimeType, sha256, bytes, name } = attachment;
  // Pages look for the name of a file under another key than that of a picture.
  const metadata = {
    bytes,
    ...defined({ name, filename: kind === "file" ? name : undefined }),
  };
  return { type: kind, mimeType, fileId: `${PREFIX}${sha256}`, metadata };
}
