/** Puts what a model thought before it called tools where servers look for it (DeepSeek and Kimi refuse a call without). */
import { isRecord } from "#src/kernel/json.ts";

/** Type of the content part that carries thoughts as far as the request. */
export const THOUGHT = "thought";

/** `body` with each such part as `reasoning_content` of its message. */
export function withSentThoughts(body: Record<string, unknown>): Record<string, unknown> {
  const { messages } = body;
  if (!Array.isArray(messages)) return body;
  return {
    ...body,
    messages: messages.map((message: unknown) => (isRecord(message) ? placed(message) : message)),
  };
}

function placed(message: Record<string, unknown>): Record<string, unknown> {
  const { content } = message;
  if (!Array.isArray(content)) return message;
  const parts = content.filter(isRecord);
  const thought = parts.find(({ type }) => type === THOUGHT);
  if (thought === undefined) return message;
  const text = parts.filter((part) => part !== thought).map((part) => String(part["text"]));
  return { ...message, content: text.join(""), reasoning_content: thought["text"] };
}
