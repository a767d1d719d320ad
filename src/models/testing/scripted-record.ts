/** What a scripted model remembers of its calls, as plain data that later changes to the messages cannot reach. */
import { AIMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import type { BindToolsInput } from "@langchain/core/language_models/chat_models";

/** A message as it was when the model was called. */
export interface RecordedMessage {
  /** LangChain's type: `system`, `human`, `ai`, `tool`. */
  readonly type: string;
  readonly content: BaseMessage["content"];
  readonly id?: string;
  readonly name?: string;
  readonly toolCalls?: readonly { readonly id?: string; readonly name: string; readonly args: unknown }[];
  readonly toolCallId?: string;
}

/** One call of a scripted model. */
export interface ScriptedCall {
  readonly messages: readonly RecordedMessage[];
  readonly toolNames: readonly string[];
  /** The texts that went out, in order, also those of a call that failed later. */
  readonly streamed: string[];
  /** Whether the whole step was played. */
  completed: boolean;
}

/** Copies messages into plain data. */
export function recordMessages(messages: readonly BaseMessage[]): RecordedMessage[] {
  return messages.map((message) =>
    structuredClone({
      type: message.type,
      content: message.content,
      ...(message.id === undefined ? {} : { id: message.id }),
      ...(message.name === undefined ? {} : { name: message.name }),
      ...toolFieldsOf(message),
    }),
  );
}

function toolFieldsOf(message: BaseMessage): Pick<RecordedMessage, "toolCalls" | "toolCallId"> {
  if (ToolMessage.isInstance(message)) return { toolCallId: message.tool_call_id };
  if (!AIMessage.isInstance(message) || (message.tool_calls ?? []).length === 0) return {};
  return {
    toolCalls: (message.tool_calls ?? []).map(({ id, name, args }) => ({
      ...(id === undefined ? {} : { id }),
      name,
      args,
    })),
  };
}

/** The name of a tool in any of the forms that `bindTools` takes. */
export function toolNameOf(tool: BindToolsInput): string {
  const fields = tool as { readonly name?: unknown; readonly function?: { readonly name?: unknown } };
  const name = fields.name ?? fields.function?.name;
  return typeof name === "string" ? name : "unnamed";
}
