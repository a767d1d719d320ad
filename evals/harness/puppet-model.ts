/** The model of the evals: repeats what it is told, and does on command what a case needs a model to do. */
import { HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import { echoStep, type ScriptedStep } from "#src/models/testing/scripted-step.ts";

const TOOL_CALL = /^!call (?<name>\w+) (?<args>\{.*\})$/su;

/** A message that makes the puppet call a tool, and then repeat what the tool said. */
export function callTool(name: string, args: Readonly<Record<string, unknown>>): string {
  return `!call ${name} ${JSON.stringify(args)}`;
}

/** A message that makes the puppet fail, so that the turn is not committed. */
export const FAIL = "!fail";

/** Makes a puppet; its `calls` are what it was given. */
export function createPuppetModel(): ScriptedChatModel {
  return new ScriptedChatModel(stepFor);
}

function stepFor(messages: readonly BaseMessage[], callIndex: number): ScriptedStep {
  const last = messages.at(-1);
  if (ToolMessage.isInstance(last)) return { text: `The tool said: ${last.text}` };
  if (!HumanMessage.isInstance(last)) return echoStep(messages);
  if (last.text === FAIL) return { error: new Error("the puppet was told to fail") };
  const call = TOOL_CALL.exec(last.text)?.groups;
  if (call === undefined) return { text: `You said: ${last.text}` };
  return { toolCalls: [{ id: `call-${callIndex}`, name: call["name"] ?? "", args: call["args"] ?? "{}" }] };
}
