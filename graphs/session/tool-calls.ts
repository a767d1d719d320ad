/** The tool calls of the model's last message: which are open, and what answers one. */
import { AIMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import type { ToolCall } from "@langchain/core/messages/tool";
import { toStorableText } from "#src/kernel/json.ts";
import { invalidCallId, NO_OUTPUT, unnamedCallId } from "#src/turns/langchain-messages.ts";
import { resultText, type ResultKeeper } from "./kept-results.ts";

/** Calls without a result. */
export interface OpenCalls {
  /** In the order in which the model made them, each with an id. */
  readonly calls: readonly (ToolCall & { readonly id: string })[];
  /** Answers to calls whose arguments were no JSON, so that none stays open. */
  readonly refused: readonly ToolMessage[];
}

/** The open calls of the last message of a model in `messages`. */
export function openCalls(messages: readonly BaseMessage[]): OpenCalls {
  const at = messages.findLastIndex((message) => AIMessage.isInstance(message));
  const asking = messages[at];
  const last = AIMessage.isInstance(asking) ? asking : undefined;
  // Only what came after it: some servers number the calls of each message anew.
  const results = messages.slice(at + 1).filter((message) => ToolMessage.isInstance(message));
  const answered = new Set(results.map((message) => message.tool_call_id));
  const invalid = (last?.invalid_tool_calls ?? []).map((call, index) => ({
    id: call.id ?? invalidCallId(index),
    name: call.name ?? "unknown",
  }));
  return {
    calls: (last?.tool_calls ?? [])
      .map((call, index) => ({ ...call, id: call.id ?? unnamedCallId(index) }))
      .filter(({ id }) => !answered.has(id)),
    refused: invalid
      .filter(({ id }) => !answered.has(id))
      .map((call) => resultOf(call, "the arguments were not valid JSON", "error")),
  };
}

/** The result of a call. */
export function resultOf(
  call: { id?: string | undefined; name: string },
  text: string,
  status: "success" | "error",
): ToolMessage {
  const content = text.trim() === "" ? NO_OUTPUT : toStorableText(text);
  return new ToolMessage({ content, tool_call_id: call.id ?? "", name: call.name, status });
}

/** The result of a call that ran, of whatever kind; what is too big for the conversation is kept beside it. */
export async function toolResultOf(
  call: { id?: string | undefined; name: string },
  value: unknown,
  keeper: ResultKeeper,
): Promise<ToolMessage> {
  const status = ToolMessage.isInstance(value) ? value.status : undefined;
  return resultOf(call, await resultText(value, keeper), status ?? "success");
}
