/** What a model is sent: messages as every provider takes them, with what is attached to the newest of them. */
import { AIMessage, HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { isLilyError } from "#src/kernel/errors.ts";
import { isStored, type Attachment } from "#src/sessions/attachment.ts";
import type { Blob, BlobStore } from "#src/sessions/blobs.ts";
import { attachmentsOf, describedContent, resolvedContent } from "./attachment-blocks.ts";
import { contentText, fromLangChain, toLangChain } from "./langchain-messages.ts";

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
  return showAttachments(messages.map(sendable), attached);
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

async function showAttachments(messages: BaseMessage[], attached: AttachedContent): Promise<BaseMessage[]> {
  const carrying = messages.filter((message) => attachmentsOf(message.content).length > 0);
  if (carrying.length === 0) return messages;
  const shown = new Set(carrying.slice(-SHOWN));
  return Promise.all(
    messages.map(async (message) => {
      const attachments = attachmentsOf(message.content);
      if (attachments.length === 0) return message;
      const text = contentText(message.content);
      if (!shown.has(message)) return withContent(message, describedContent(text, attachments));
      return show(message, { text, attachments, attached });
    }),
  );
}

async function show(
  message: BaseMessage,
  carried: {
    readonly text: string;
    readonly attachments: readonly Attachment[];
    readonly attached: AttachedContent;
  },
): Promise<BaseMessage> {
  const { text, attachments, attached } = carried;
  const found = await Promise.all(
    attachments.map(async (attachment) => ({ attachment, blob: await readContent(attachment, attached) })),
  );
  return withContent(message, resolvedContent(text, found));
}

/** What is gone or damaged is told to the model in words; it must not end the conversation. */
async function readContent(
  attachment: Attachment,
  { blobs, owner }: AttachedContent,
): Promise<Blob | undefined> {
  if (!isStored(attachment)) return undefined;
  try {
    return await blobs.read(owner, attachment.sha256);
  } catch (error) {
    if (isLilyError(error) && error.code === "record_invalid") return undefined;
    throw error;
  }
}

function withContent(message: BaseMessage, content: BaseMessage["content"]): HumanMessage {
  return new HumanMessage({ content, ...(message.id === undefined ? {} : { id: message.id }) });
}
