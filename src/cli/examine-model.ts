/** Asks a model a few small questions, and says of each whether its server answers as Lily needs it. */
import {
  AIMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  type AIMessageChunk,
  type BaseMessage,
} from "@langchain/core/messages";
import { concat } from "@langchain/core/utils/stream";
import { timeLimit } from "#src/kernel/clock.ts";
import type { ChatModels } from "#src/models/chat-model.ts";
import { cutOf, finalMessage } from "#src/models/final-message.ts";
import { modelFailedError } from "#src/models/model-errors.ts";
import { fine, warning, wrong, type Check } from "#src/upkeep/check.ts";

/** Longest time for one question, in milliseconds; a local model may have to be loaded first. */
const QUESTION_MS = 180_000;

const ADD = {
  type: "function",
  function: {
    name: "add",
    description: "Adds two whole numbers.",
    parameters: {
      type: "object",
      properties: { a: { type: "integer" }, b: { type: "integer" } },
      required: ["a", "b"],
    },
  },
} as const;

const SUM = new HumanMessage("Use the tool add to add 1234 and 4321. Then tell me the sum.");
const INSTRUCTED = [new SystemMessage("Answer every message with the word: lily"), new HumanMessage("Hi")];
const LONG = new HumanMessage("Write the numbers from 1 to 150, one a line, and nothing else.");
const CALL_TOOLS =
  "Check that the server was started with tool calling for this model, or choose one that calls tools.";

/**
 * One row a question: plain, streaming, instructions, a tool call, its result, a long answer; then what the server has
 * refused. Where the first finds no server, it is the only one.
 *
 * @throws {LilyError} `model_unknown`, `config_invalid`
 */
export async function examineModel(models: ChatModels, reference: string): Promise<Check[]> {
  const model = await models.chatModel(reference);
  const plain = await ask("model: plain", model, [new HumanMessage("Say only the word: ready")], plainRows);
  if (plain.some(({ state }) => state === "bad")) return plain;
  const offered = model.bindTools?.([ADD]);
  return [
    ...plain,
    ...(await ask("model: instructions", model, INSTRUCTED, instructionRows)),
    ...(await ask("model: streaming", model, [new HumanMessage("Name the days of the week.")], streamRows)),
    ...(offered === undefined
      ? [warning("model: tool call", "tools cannot be offered", CALL_TOOLS)]
      : await ask("model: tool call", offered, [SUM], (check, heard) => toolRows(check, heard, offered))),
    ...(await ask("model: long answer", model, [LONG], longRows)),
    ...(models.takeNotices?.(reference) ?? []).map((notice) =>
      warning("model: abilities", notice, "Nothing; it is left out by itself."),
    ),
  ];
}

/** What can be asked: a model, also one that is offered tools. */
interface Asked {
  stream(
    messages: BaseMessage[],
    options: { readonly signal: AbortSignal },
  ): Promise<AsyncIterable<AIMessageChunk>>;
}

/** What came of a question. */
interface Heard {
  readonly message: AIMessage;
  /** Pieces of the answer that had text. */
  readonly pieces: number;
}

/** The rows that `judge` makes of the answer, or the one of a question that failed. */
async function ask(
  check: string,
  model: Asked,
  messages: BaseMessage[],
  judge: (check: string, heard: Heard) => Check[] | Promise<Check[]>,
): Promise<Check[]> {
  let whole: AIMessageChunk | undefined;
  let pieces = 0;
  try {
    for await (const chunk of await model.stream(messages, { signal: timeLimit(QUESTION_MS) })) {
      whole = whole === undefined ? chunk : concat(whole, chunk);
      if (chunk.text !== "") pieces += 1;
    }
  } catch (error) {
    const { message, next, code } = modelFailedError(error);
    return [wrong(check, message, { next, code })];
  }
  return judge(check, { pieces, message: whole === undefined ? new AIMessage("") : finalMessage(whole) });
}

function plainRows(check: string, { message }: Heard): Check[] {
  const hasThought = "reasoning_content" in message.additional_kwargs;
  if (message.text.trim() === "")
    return [wrong(check, "the answer has no text", { code: "model_failed", next: "Choose another model." })];
  return [fine(check, `answers${hasThought ? ", after thoughts that are kept apart" : ""}`)];
}

function instructionRows(check: string, { message }: Heard): Check[] {
  const next = "Choose a model that follows instructions better.";
  if (/lily/iu.test(message.text)) return [fine(check, "are followed")];
  return [warning(check, `were not followed: ${quoted(message)}`, next)];
}

function streamRows(check: string, { pieces, message }: Heard): Check[] {
  const counted = message.usage_metadata === undefined ? "; usage is counted by estimate" : "";
  const next = "Switch streaming on in the server, or wait longer.";
  if (pieces > 1) return [fine(check, `comes in ${pieces} pieces${counted}`)];
  return [warning(check, `the answer comes in one piece${counted}`, next)];
}

async function toolRows(check: string, { message: asking }: Heard, model: Asked): Promise<Check[]> {
  const [call, bad] = [asking.tool_calls?.[0], asking.invalid_tool_calls?.[0]];
  if (call === undefined) {
    const found =
      bad === undefined ? `none was made: ${quoted(asking)}` : `cannot be read: ${bad.args ?? ""}`;
    return [warning(check, found, CALL_TOOLS)];
  }
  const isRight = call.name === "add" && Number(call.args["a"]) + Number(call.args["b"]) === 5555;
  const made = `is made wrongly: ${call.name} ${JSON.stringify(call.args)}`;
  const result = new ToolMessage({ content: "5555", tool_call_id: call.id ?? "" });
  return [
    isRight
      ? fine(check, "is made with the right arguments")
      : warning(check, made, "Choose a model that calls tools better."),
    ...(await ask("model: tool result", model, [SUM, asking, result], (name, { message }) =>
      /5[,. ]?555/u.test(message.text)
        ? [fine(name, "is read")]
        : [warning(name, `is not told: ${quoted(message)}`, CALL_TOOLS)],
    )),
  ];
}

function longRows(check: string, { message }: Heard): Check[] {
  const cut = cutOf(message);
  const numbers = message.text.match(/\d+/gu)?.length ?? 0;
  const toldCut = `is cut after ${numbers} of 150 numbers (${cut})`;
  if (cut !== undefined)
    return [warning(check, toldCut, "Raise the longest answer in the server's settings.")];
  if (numbers >= 150) return [fine(check, "is whole")];
  return [warning(check, `ends after ${numbers} of 150 numbers`, "Nothing, if longer answers are whole.")];
}

function quoted({ text }: AIMessage): string {
  return JSON.stringify(text.slice(0, 80));
}
