/** The model, the tool and the classifier of a subject: what they do follows from the text of the message alone. */
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool, type StructuredToolInterface } from "@langchain/core/tools";
import { interrupt } from "@langchain/langgraph";
import { z } from "zod";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import type { ScriptedStep } from "#src/models/testing/scripted-step.ts";
import type { TopicClassifier } from "#src/sessions/decide-rollover.ts";
import type { Gate } from "./gate.ts";

/** How a model behaves beside what it is asked. */
interface ModelBehaviour {
  /** Called before each chunk of an answer to a text that begins with `slow`. */
  readonly onSlowChunk: () => void;
  /** It asks for tools, and fails where it would answer. */
  readonly isDown: () => boolean;
}

/** The reply model. */
export function scriptedModel({ onSlowChunk, isDown }: ModelBehaviour): ScriptedChatModel {
  return new ScriptedChatModel((messages) => answerTo(messages, isDown()), {
    sleep: async () => onSlowChunk(),
  });
}

const DOWN: ScriptedStep = { text: "half an", error: new Error("the model is down") };

function answerTo(messages: readonly BaseMessage[], isDown: boolean): ScriptedStep {
  const last = messages.findLastIndex((message) => HumanMessage.isInstance(message));
  // A line a call in the log of the tools, also of messages that were collected.
  const text = (messages[last]?.text ?? "").replaceAll("\n\n", " and ");
  const results = messages.slice(last + 1).filter((message) => ToolMessage.isInstance(message));
  if (text.startsWith("fail")) return DOWN;
  if (text.startsWith("slow")) return { chunks: ["one", " two", " three", " four"], delayMs: 1 };
  if (text.startsWith("tools") && results.length === 0)
    return { toolCalls: ["a", "b"].map((letter) => callOf(text, letter)) };
  if (text.startsWith("ask") && results.length === 0)
    return { toolCalls: [callOf(text, "a"), callOf(text, "b", "ask")] };
  if (text.startsWith("change") && results.length === 0)
    return { toolCalls: [callOf(text, "a"), callOf(text, "b", "change")] };
  if (isDown) return DOWN;
  return { text: `re: ${text}` };
}

/** An id tells calls apart; a long message would fill the context with copies of itself. */
const ID_CHARACTERS = 80;

function callOf(text: string, letter: string, name = "note") {
  const id = `${text.slice(0, ID_CHARACTERS)}#${letter}`;
  return { id, name, args: { id } };
}

/** What a tool works with. */
interface Noted {
  readonly gate: Gate;
  /** Where it writes. */
  readonly file: string;
  /** Milliseconds between its two lines. */
  readonly toolMs: number;
}

/**
 * A tool whose effect is outside the database: a line in its file when it begins and one when it has finished. Of `change` it
 * is known that it changes something: a person is asked first.
 */
export function noteTool(noted: Noted, name: "note" | "change" = "note"): StructuredToolInterface {
  return tool(({ id }) => note(noted, id), {
    name,
    description: `Writes an id down (${name})`,
    schema: noteSchema,
    metadata: { annotations: { readOnlyHint: name === "note" } },
  });
}

/** The same, once a person has said yes. The question is the id. */
export function askTool(noted: Noted): StructuredToolInterface {
  return tool(
    async ({ id }) => {
      const answer: unknown = interrupt(id);
      return answer === "yes" ? note(noted, id) : "no";
    },
    { name: "ask", description: "Notes an id when a person agrees", schema: noteSchema },
  );
}

const noteSchema = z.object({ id: z.string() });

async function note({ gate, file, toolMs }: Noted, id: string): Promise<string> {
  gate.pass("tool begins", () => appendFileSync(file, `begin ${id}\n`));
  if (toolMs > 0) await sleep(toolMs);
  gate.pass("tool finishes", () => appendFileSync(file, `end ${id}\n`));
  return `noted ${id}`;
}

/** `other …` leaves the topic, `back …` goes back to the one before; of all else nothing is known. */
export const scriptedTopics: TopicClassifier = {
  async classify({ message }) {
    const line = message.split("\n").at(-1) ?? "";
    if (line.startsWith("other")) return { kind: "shift", confidence: 1 };
    if (line.startsWith("back")) return { kind: "same", confidence: 1 };
    return { kind: "unknown", why: "it is not scripted" };
  },
};
