/** The one boundary between flat transcript messages and LangChain messages. */
import {
  AIMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  type BaseMessage,
} from "@langchain/core/messages";
import { isRecord } from "#src/kernel/is-record.ts";
import { toStorableText, toStorableValue } from "#src/kernel/json.ts";
import type { Message, ToolCall } from "#src/sessions/message.ts";
import { attachmentsOf, contentOf } from "./attachment-blocks.ts";

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
  if (isObject(args)) return toStorableText(args);
  return JSON.stringify({ unreadable: toStorableText(args.slice(0, MAX_UNREADABLE)) });
}

function isObject(args: string): boolean {
  try {
    return isRecord(JSON.parse(args));
  } catch {
    return false; // no JSON at all
  }
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
  const named = id === undefined ? {} : { id };
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

function argumentsOf(call: ToolCall): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(call.arguments);
    return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed) ? { ...parsed } : {};
  } catch {
    // A model may send arguments that are no JSON; providers refuse a history that repeats them.
    return {};
  }
}
