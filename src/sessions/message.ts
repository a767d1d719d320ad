/** The message that transcripts store: flat, provider-neutral, JSON. */
import { z } from "zod";
import { attachmentSchema, attachmentText } from "./attachment.ts";

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

/** A copy that shares nothing with `message`. */
export function copyMessage(message: Message): Message {
  const { toolCalls, attachments } = message;
  return {
    ...message,
    ...(toolCalls === undefined ? {} : { toolCalls: toolCalls.map((call) => ({ ...call })) }),
    ...(attachments === undefined
      ? {}
      : { attachments: attachments.map((attachment) => ({ ...attachment })) }),
  };
}

/** What a message says to people who see text alone: its text, or where it has none what it carries. */
export function spokenText(message: Pick<Message, "content" | "attachments"> | undefined): string {
  if (message === undefined) return "";
  const carried = (message.attachments ?? []).map(attachmentText).join(" ");
  return message.content.trim() === "" ? carried : message.content;
}
