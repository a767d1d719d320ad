/** The model, the tool and the classifier of a subject: what they do follows from the text of the message alone. */
import { appendFileSync } from "node:fs";
import type { BaseMessage } from "@langchain/core/messages";
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool, type StructuredToolInterface } from "@langchain/core/tools";
import { z } from "zod";
import { ScriptedChatModel } from "#src/models/scripted-chat-model.ts";
import type { ScriptedStep } from "#src/models/scripted-step.ts";
import type { TopicClassifier } from "#src/sessions/topic-evidence.ts";
import type { Gate } from "./gate.ts";

/** A scripted model whose calls pass a gate. */
class GatedModel extends ScriptedChatModel {
  readonly #gate: Gate;

  constructor(gate: Gate, onChunk: (text: string) => void) {
    super(answerTo, { sleep: async () => onChunk("") });
    this.#gate = gate;
  }

  override async *_streamResponseChunks(
    ...args: Parameters<ScriptedChatModel["_streamResponseChunks"]>
  ): ReturnType<ScriptedChatModel["_streamResponseChunks"]> {
    const leave = this.#gate.enter("model.stream");
    yield* super._streamResponseChunks(...args);
    leave();
  }
}

/** The reply model. `onSlowChunk` is called before each chunk of an answer to a text that begins with `slow`. */
export function gatedModel(gate: Gate, onSlowChunk: () => void): ScriptedChatModel {
  return new GatedModel(gate, onSlowChunk);
}

function answerTo(messages: readonly BaseMessage[]): ScriptedStep {
  const last = messages.findLastIndex((message) => HumanMessage.isInstance(message));
  const text = messages[last]?.text ?? "";
  const results = messages.slice(last + 1).filter((message) => ToolMessage.isInstance(message));
  if (text.startsWith("fail")) return { text: "half an", error: new Error("the model is down") };
  if (text.startsWith("slow")) return { chunks: ["one", " two", " three", " four"], delayMs: 1 };
  if (text.startsWith("tools") && results.length === 0)
    return { toolCalls: ["a", "b"].map((letter) => callOf(`${text}#${letter}`)) };
  return { text: `re: ${text}` };
}

function callOf(id: string) {
  return { id, name: "note", args: { id } };
}

/** A tool whose effect is outside the database: a line in `file` when it begins and one when it has finished. */
export function noteTool(gate: Gate, file: string): StructuredToolInterface {
  return tool(
    ({ id }) =>
      gate.pass("tool.call", () => {
        gate.passNow("tool.begins", () => appendFileSync(file, `begin ${id}\n`));
        gate.passNow("tool.finishes", () => appendFileSync(file, `end ${id}\n`));
        return `noted ${id}`;
      }),
    { name: "note", description: "Notes an id", schema: z.object({ id: z.string() }) },
  );
}

/** `other …` leaves the topic, `back …` goes back to the one before; of all else nothing is known. */
export function scriptedTopics(gate: Gate): TopicClassifier {
  return {
    classify: ({ message }) =>
      gate.pass("topics.classify", () => {
        const line = message.split("\n").at(-1) ?? "";
        if (line.startsWith("other")) return { kind: "shift", confidence: 1 } as const;
        if (line.startsWith("back")) return { kind: "same", confidence: 1 } as const;
        return { kind: "unknown", why: "it is not scripted" } as const;
      }),
  };
}
