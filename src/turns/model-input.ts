/** The last guard before a model: the messages that are sent, repaired, with what is attached to the newest of them. */
import {
  AIMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  type BaseMessage,
} from "@langchain/core/messages";
import { repairMessages, type Repairs } from "#src/context/repair-messages.ts";
import { isLilyError } from "#src/kernel/errors.ts";
import { isStored, type Attachment } from "#src/sessions/attachment.ts";
import type { Blob, BlobStore } from "#src/sessions/blobs.ts";
import type { Message } from "#src/sessions/message.ts";
import { attachmentsOf, describedContent, resolvedContent } from "./attachment-blocks.ts";
import { contentText, fromLangChain, toLangChain } from "./langchain-messages.ts";

/** Messages with attachments whose content a model is shown: that of the turn in flight and the two before it. */
const SHOWN = 3;

/** Where attached content is. */
export interface AttachedContent {
  readonly blobs: Pick<BlobStore, "read">;
  readonly owner: string;
}

/** What a model is sent. */
export interface ModelInput {
  readonly messages: BaseMessage[];
  /** What was wrong with the messages as they stand in the state and the transcript. */
  readonly repairs: Repairs;
}

/** Messages that can be sent as they are, and the calls in them: of each there is one result, behind it. */
export interface SoundMessages {
  readonly messages: readonly BaseMessage[];
  readonly callIds: readonly string[];
}

/**
 * The input of a model call. Every provider takes it, whatever is stored: see {@link repairMessages}. The attachments of
 * the newest messages are shown with their content, older ones are named in words.
 *
 * @param before what comes before `messages` and is known to be sound, so that nobody looks at it again
 */
export async function toModelInput(
  messages: readonly BaseMessage[],
  attached: AttachedContent,
  before: SoundMessages = NONE,
): Promise<ModelInput> {
  const repaired = repairLangChain(messages);
  if (sharesCalls(repaired.messages, before))
    return toModelInput([...before.messages, ...messages], attached);
  const shown = await showAttachments(repaired.messages, attached);
  return { messages: [...before.messages, ...shown], repairs: repaired.repairs };
}

const NONE: SoundMessages = { messages: [], callIds: [] };

/** Whether an id of a call is there already, also one that was made up: then those that come later get others. */
function sharesCalls(messages: readonly BaseMessage[], { callIds }: SoundMessages): boolean {
  if (callIds.length === 0) return false;
  const known = new Set(callIds);
  return messages.some((message) => callsOf(flatten(message).flat).some((id) => known.has(id)));
}

const callsOf = ({ toolCalls = [] }: Message): string[] => toolCalls.map(({ id }) => id);

/** The messages, where they can be sent as they are; `undefined` where something is repaired or resolved. */
export function soundMessages(messages: readonly BaseMessage[]): SoundMessages | undefined {
  const flattened = messages.map(flatten);
  const flat = flattened.map((one) => one.flat);
  const isWhole = flattened.every((one) => one.isWhole && (one.flat.attachments ?? []).length === 0);
  if (!isWhole || Object.keys(repairMessages(flat).repairs).length > 0) return undefined;
  return { messages, callIds: flat.flatMap(callsOf) };
}

/** All of them one after the other; `undefined` where that is not sound any more. */
export function joinSound(parts: readonly (SoundMessages | undefined)[]): SoundMessages | undefined {
  const messages: BaseMessage[] = [];
  const callIds: string[] = [];
  for (const part of parts) {
    if (part === undefined) return undefined;
    messages.push(...part.messages);
    callIds.push(...part.callIds);
  }
  return new Set(callIds).size === callIds.length ? { messages, callIds } : undefined;
}

/** A message in the flat form of the transcript. */
interface Flattened {
  readonly original: BaseMessage;
  readonly flat: Message;
  /** The flat form leaves out nothing that a provider is sent. */
  readonly isWhole: boolean;
}

/** Messages do not change: those of a long conversation are made flat once, and not for each call. */
const FLATTENED = new WeakMap<BaseMessage, Flattened>();

function flatten(original: BaseMessage): Flattened {
  const known = FLATTENED.get(original);
  if (known !== undefined) return known;
  const flat = fromLangChain(original, "");
  const made = { original, flat, isWhole: saysTheSame(original, flat) };
  FLATTENED.set(original, made);
  return made;
}

/** Repairs in the flat form. A message that needed nothing is sent as it is. */
function repairLangChain(messages: readonly BaseMessage[]): ModelInput {
  const flattened = messages.map(flatten);
  const originals = new Map(flattened.map((one) => [one.flat, one]));
  const repaired = repairMessages(flattened.map(({ flat }) => flat));
  return {
    messages: repaired.messages.map((message) => {
      const before = originals.get(message);
      return before?.isWhole === true ? before.original : toLangChain(message, before?.original.id);
    }),
    repairs: repaired.repairs,
  };
}

/** Whether a provider is sent by `original` what stands in `flat`, and nothing that the flat form leaves out. */
function saysTheSame(original: BaseMessage, flat: Message): boolean {
  if (HumanMessage.isInstance(original)) return hasKnownContent(original, flat);
  if (contentText(original.content) !== flat.content || !hasSendableParts(original.content)) return false;
  if (ToolMessage.isInstance(original)) return original.tool_call_id === flat.toolCallId;
  if (!AIMessage.isInstance(original)) return SystemMessage.isInstance(original);
  const calls = original.tool_calls ?? [];
  if ((original.invalid_tool_calls ?? []).length > 0 || hasRawCalls(original)) return false;
  return calls.every((call, index) => isSameCall(call, flat.toolCalls?.[index]));
}

/** Providers are sent a user's text, and attachments by reference, which are resolved; nothing else. */
function hasKnownContent({ content }: HumanMessage, flat: Message): boolean {
  if (typeof content === "string") return content === flat.content;
  const known = content.filter((part) => part.type === "text").length + (flat.attachments ?? []).length;
  return contentText(content) === flat.content && known === content.length;
}

/** Providers send the raw form of calls where the parsed one is empty. */
function hasRawCalls({ additional_kwargs: raw }: AIMessage): boolean {
  return raw["tool_calls"] !== undefined || raw["function_call"] !== undefined;
}

function isSameCall(
  call: NonNullable<AIMessage["tool_calls"]>[number],
  flat: { readonly id: string; readonly name: string; readonly arguments: string } | undefined,
): boolean {
  return flat?.id === call.id && flat?.name === call.name && flat.arguments === JSON.stringify(call.args);
}

/** Blank text blocks are refused by some providers, and beside calls they say nothing. */
function hasSendableParts(content: BaseMessage["content"]): boolean {
  if (typeof content === "string") return true;
  return content.every(
    (part) => part.type !== "text" || (typeof part["text"] === "string" && part["text"].trim() !== ""),
  );
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
