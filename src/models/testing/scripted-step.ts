/** The steps of a script: what a scripted model answers to one call, and the chunks it answers in. */
import { AIMessageChunk, HumanMessage, type BaseMessage } from "@langchain/core/messages";
import type { ToolCallChunk } from "@langchain/core/messages/tool";
import { ChatGenerationChunk } from "@langchain/core/outputs";

/** A tool call of a step. Arguments given as text are sent as they are, so that broken JSON can be played. */
interface ScriptedToolCall {
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>> | string;
}

/** One answer. */
export interface ScriptedStep {
  readonly text?: string;
  /** The pieces in which the text streams; together they are the text. Left out, the text streams word by word. */
  readonly chunks?: readonly string[];
  readonly toolCalls?: readonly ScriptedToolCall[];
  /** Thrown after what else the step says has streamed. */
  readonly error?: unknown;
  /** Wait before each chunk in milliseconds. */
  readonly delayMs?: number;
  /** `null` plays a stream that was cut. Left out: `tool_calls` when there are any, else `stop`. */
  readonly finishReason?: string | null;
}

/** The answers of a scripted model: in order, or decided call by call (`callIndex` counts from 0). */
export type Script =
  | readonly (string | ScriptedStep)[]
  | ((
      messages: readonly BaseMessage[],
      callIndex: number,
    ) => string | ScriptedStep | Promise<string | ScriptedStep>);

/**
 * The step for call `callIndex`.
 *
 * @throws When the script has run out: a test that calls more often than it planned must fail by saying so.
 */
export async function stepOf(
  script: Script,
  messages: readonly BaseMessage[],
  callIndex: number,
): Promise<ScriptedStep> {
  const step = typeof script === "function" ? await script(messages, callIndex) : script[callIndex];
  if (step === undefined) {
    const length = typeof script === "function" ? "no step" : `${script.length} step(s)`;
    throw new Error(
      `The scripted model was called ${callIndex + 1} time(s), but its script has ${length} for it.`,
    );
  }
  return typeof step === "string" ? { text: step } : step;
}

/** The step that repeats the last user message. */
export function echoStep(messages: readonly BaseMessage[]): ScriptedStep {
  return { text: messages.findLast((message) => HumanMessage.isInstance(message))?.text ?? "" };
}

/** The chunks of a step: text, tool calls, then the finish reason unless the step fails or is cut. */
export function chunksOfStep(step: ScriptedStep): ChatGenerationChunk[] {
  const texts = step.chunks ?? step.text?.match(/\s*\S+|\s+$/gu) ?? [];
  const toolCalls = step.toolCalls ?? [];
  const chunks = [...texts.map(textChunk), ...toolCalls.map(toolCallChunk)];
  if (step.error !== undefined || step.finishReason === null) return chunks;
  const reason = step.finishReason ?? (toolCalls.length > 0 ? "tool_calls" : "stop");
  return [...chunks, finishChunk(reason)];
}

function textChunk(text: string): ChatGenerationChunk {
  return new ChatGenerationChunk({ text, message: new AIMessageChunk({ content: text }) });
}

function toolCallChunk(call: ScriptedToolCall, index: number): ChatGenerationChunk {
  const args = typeof call.args === "string" ? call.args : JSON.stringify(call.args);
  const chunk: ToolCallChunk = { type: "tool_call_chunk", index, id: call.id, name: call.name, args };
  return new ChatGenerationChunk({
    text: "",
    message: new AIMessageChunk({ content: "", tool_call_chunks: [chunk] }),
  });
}

function finishChunk(reason: string): ChatGenerationChunk {
  return new ChatGenerationChunk({
    text: "",
    message: new AIMessageChunk({ content: "" }),
    generationInfo: { finish_reason: reason, model_name: "scripted" },
  });
}
