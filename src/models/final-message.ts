/** Turns a streamed answer into the message that is kept: plain, small, with tool calls that were really sent. */
import { AIMessage, type AIMessageChunk } from "@langchain/core/messages";
import type { InvalidToolCall, ToolCall, ToolCallChunk } from "@langchain/core/messages/tool";
import { defined, isRecord, parseJson } from "#src/kernel/json.ts";

/** Why a model ended its answer before it was whole. */
type Cut = "length" | "content_filter";

/** Why an answer is not whole, where its model said so. */
export function cutOf({ response_metadata: metadata }: AIMessage): Cut | undefined {
  const reason: unknown = metadata["finish_reason"];
  return reason === "length" || reason === "content_filter" ? reason : undefined;
}

/** The sentence that tells it before the answer. */
export function cutNotice(cut: Cut): string {
  return `The answer is cut: ${CUTS[cut]}.`;
}

const CUTS: Readonly<Record<Cut, string>> = {
  length: "the model reached the longest answer that it or its server allows",
  content_filter: "the model's server withheld the rest of it (content filter)",
};

/**
 * Parses the tool calls of a joined answer strictly, in place. LangChain completes half-received JSON
 * (`{"path": "/tm` becomes a call with `/tm`), so a call that was cut would run; here it lands in
 * `invalid_tool_calls`. A call without an id gets one made from the message's. Thoughts before a mark that only closes
 * them become reasoning.
 */
export function settleToolCalls(message: AIMessageChunk): AIMessageChunk {
  settleThoughts(message);
  const chunks = message.tool_call_chunks ?? [];
  if (chunks.length === 0) return message;
  const cut = cutOf(message);
  const calls = chunks.map((chunk, index) => {
    const id = chunk.id || `call-${message.id ?? "unnamed"}-${index}`;
    return parseCall(chunk, { id, cut: index === chunks.length - 1 ? cut : undefined });
  });
  message.tool_calls = calls.filter((call) => call.type === "tool_call");
  message.invalid_tool_calls = calls.filter((call) => call.type === "invalid_tool_call");
  return message;
}

/** Templates that open the thoughts themselves leave only their end in the answer: a mark at the end of a line. */
const THOUGHTS = /^((?:(?!<think>)[\s\S])*?)<\/think>\s*\n\s*/u;

function settleThoughts(message: AIMessageChunk): void {
  const { content, additional_kwargs: additional } = message;
  const [thoughts, thought] = typeof content === "string" ? (THOUGHTS.exec(content) ?? []) : [];
  if (typeof content !== "string" || thoughts === undefined || thought === undefined) return;
  message.content = content.slice(thoughts.length);
  message.additional_kwargs = { ...additional, reasoning_content: thought };
}

/**
 * The message to keep of a joined answer: content, tool calls, usage, and of the provider's metadata only which model
 * answered and why it stopped. Raw copies of tool calls and stream bookkeeping are left out. Each call has an id that no
 * other call of the message has, so that each result finds its own.
 */
export function finalMessage(answer: AIMessageChunk | AIMessage): AIMessage {
  const settled = "tool_call_chunks" in answer ? settleToolCalls(answer) : answer;
  const { tool_calls: _raw, function_call: _old, ...additional } = settled.additional_kwargs;
  const distinct = distinctIds(settled.id);
  return new AIMessage({
    content: settled.content,
    tool_calls: (settled.tool_calls ?? []).map(distinct),
    invalid_tool_calls: (settled.invalid_tool_calls ?? []).map(distinct),
    ...defined({ id: settled.id, usage_metadata: settled.usage_metadata }),
    additional_kwargs: additional,
    response_metadata: keptMetadata(settled.response_metadata),
  });
}

/** Gives calls ids of their own, in the order in which they come: where one is missing, or was given before. */
function distinctIds(messageId: string | undefined): <T extends { id?: string | undefined }>(call: T) => T {
  const taken = new Set<string>();
  return (call) => {
    const wanted = call.id || `call-${messageId ?? "unnamed"}`;
    let id = wanted;
    for (let copy = 2; taken.has(id); copy += 1) id = `${wanted}-${copy}`;
    taken.add(id);
    return { ...call, id };
  };
}

function parseCall(
  chunk: ToolCallChunk,
  { id, cut }: { readonly id: string; readonly cut: Cut | undefined },
): (ToolCall & { type: "tool_call" }) | (InvalidToolCall & { type: "invalid_tool_call" }) {
  const name = chunk.name ?? "";
  const text = chunk.args?.trim() ?? "";
  const args = cut !== undefined && text === "" ? undefined : parseArguments(text);
  if (name !== "" && args !== undefined) return { type: "tool_call", id, name, args };
  const error =
    name === ""
      ? "The call names no tool."
      : cut !== undefined
        ? `The call is cut: ${CUTS[cut]}.`
        : "The arguments are not a JSON object.";
  return { type: "invalid_tool_call", id, name, args: text, error };
}

/** A call without arguments is a call with none: servers leave the text empty for tools that take nothing. */
function parseArguments(text: string): Record<string, unknown> | undefined {
  if (text === "") return {};
  const value = parseJson(text);
  // Some servers send the text of the arguments as a text once more.
  if (typeof value === "string" && value !== text) return parseArguments(value.trim());
  return isRecord(value) ? value : undefined;
}

const KEPT_METADATA = ["model_provider", "model_name", "finish_reason"];

function keptMetadata(metadata: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => KEPT_METADATA.includes(key)));
}
