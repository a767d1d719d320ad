/** Runs a tool and gets what it gave back itself, before LangChain makes text of it and loses what JSON cannot carry. */
import type { ToolCall } from "@langchain/core/messages/tool";
import type { StructuredToolInterface } from "@langchain/core/tools";
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { readableJson } from "#src/kernel/readable-json.ts";

/** Invokes `tool` with a call, as LangChain does, and gives its own output. */
export async function invokeRaw(
  tool: StructuredToolInterface,
  call: ToolCall,
  options: { readonly signal: AbortSignal; readonly store?: BaseStore },
): Promise<unknown> {
  const { spied, output } = spyOn(tool);
  const formatted: unknown = await spied.invoke({ ...call, type: "tool_call" }, options);
  return output.isKnown ? output.value : formatted;
}

interface Output {
  isKnown: boolean;
  value: unknown;
}

/** The same tool, whose output is noted and told to LangChain and its tracers as text. */
function spyOn(tool: StructuredToolInterface): { spied: StructuredToolInterface; output: Output } {
  const output: Output = { isKnown: false, value: undefined };
  const run: unknown = Reflect.get(tool, "_call");
  if (typeof run !== "function") return { spied: tool, output };
  const noting = async (...parameters: unknown[]): Promise<unknown> => {
    const given: unknown = await Reflect.apply(run, tool, parameters);
    // A stream of events is for LangChain to read; a message goes through as it is.
    if (isAsyncIterable(given)) return given;
    output.isKnown = true;
    output.value = contentIn(tool, given);
    return told(tool, output.value);
  };
  return { spied: Object.create(tool, { _call: { value: noting } }) as StructuredToolInterface, output };
}

/** A tool that gives an artifact beside its content gives both as a pair. */
function contentIn(tool: StructuredToolInterface, given: unknown): unknown {
  return givesPairs(tool) && Array.isArray(given) && given.length === 2 ? given[0] : given;
}

function told(tool: StructuredToolInterface, value: unknown): unknown {
  const text = readableJson(value);
  return givesPairs(tool) ? [text, undefined] : text;
}

const givesPairs = (tool: StructuredToolInterface): boolean =>
  Reflect.get(tool, "responseFormat") === "content_and_artifact";

function isAsyncIterable(value: unknown): boolean {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}
